// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "waiting_groups.hpp"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

namespace smelt::loader {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFirstLook{1};
constexpr std::chrono::milliseconds kLastLook{50};

/// The threads of one launch, and their progress.
class Workers {
 public:
  explicit Workers(const WaitingGroups& groups) : groups_(groups) {}
  ~Workers() {
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  bool run() {
    begin(groups_.threads);
    if (threads_.empty()) work();  // none to be had: one group after the other, here
    std::unique_lock lock(mutex_);
    Clock::duration look = kFirstLook;
    auto since = Clock::now();
    uint64_t seen = 0;
    bool stuck = false;
    while (!changed_.wait_for(lock, look, [this] { return working_ == 0; })) {
      if (groups_.is_asked_to_end()) end();
      if (const uint64_t ended = ended_.load(std::memory_order_relaxed); ended != seen) {
        seen = ended;
        since = Clock::now();
        look = kFirstLook;
        continue;
      }
      if (next_.load(std::memory_order_relaxed) >= groups_.count) continue;  // all have begun
      look = std::min<Clock::duration>(look * 2, kLastLook);
      const auto more = static_cast<unsigned>(threads_.size());
      lock.unlock();
      const bool grew = begin(more);
      lock.lock();
      if (grew || Clock::now() - since < kWaitingPatience) continue;
      stuck = true;
      end();
    }
    return !stuck;
  }

 private:
  /// Starts up to `count` more threads. Returns false if none could be started.
  bool begin(unsigned count) {
    const uint64_t most = std::min<uint64_t>(groups_.count, kMostWaitingGroups);
    const size_t before = threads_.size();
    for (; count > 0 && threads_.size() < most; --count) {
      {
        const std::lock_guard lock(mutex_);
        ++working_;
      }
      try {
        threads_.emplace_back([this] {
          work();
          const std::lock_guard lock(mutex_);
          if (--working_ == 0) changed_.notify_one();
        });
      } catch (const std::system_error&) {  // no more threads to be had
        const std::lock_guard lock(mutex_);
        --working_;
        break;
      }
    }
    return threads_.size() != before;
  }

  void work() {
    for (uint64_t group = 0; (group = next_.fetch_add(1, std::memory_order_relaxed)) < groups_.count;) {
      groups_.run(group);
      ended_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void end() {
    next_.store(groups_.count, std::memory_order_relaxed);
    groups_.end();
  }

  const WaitingGroups& groups_;
  std::atomic<uint64_t> next_{0};
  std::atomic<uint64_t> ended_{0};
  std::vector<std::thread> threads_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  unsigned working_ = 0;
};

}  // namespace

bool run_waiting_groups(const WaitingGroups& groups) {
  return Workers(groups).run();
}

WaitingGuard::WaitingGuard(std::function<void()> end) : end_(std::move(end)) {
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    // Without a thread nobody ends the launch but its own limit.
  }
}

WaitingGuard::~WaitingGuard() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void WaitingGuard::begins(bool last) {
  {
    const std::lock_guard lock(mutex_);
    watches_ = !last;
    until_ = Clock::now() + kWaitingPatience;
  }
  wake_.notify_one();
}

void WaitingGuard::watch() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    if (!watches_) {
      wake_.wait(lock);
      continue;
    }
    if (Clock::now() >= until_) {
      has_ended_it_ = true;
      watches_ = false;
      end_();
      continue;
    }
    wake_.wait_until(lock, until_);
  }
}

}  // namespace smelt::loader
