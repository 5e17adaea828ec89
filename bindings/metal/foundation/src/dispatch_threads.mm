// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dispatch_threads.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "internal.hpp"

namespace smelt::dispatch {

namespace {

class Pool {
 public:
  void run(Work work) {
    std::lock_guard guard(lock_);
    waiting_.push_back(std::move(work));
    if (idle_ >= waiting_.size()) {
      changed_.notify_one();
    } else if (threads_ < kMost) {
      ++threads_;
      std::thread([this] { serve(); }).detach();
    }
  }

 private:
  static constexpr size_t kMost = 64;
  void serve() {
    std::unique_lock guard(lock_);
    for (;;) {
      if (waiting_.empty()) {
        ++idle_;
        const bool more = changed_.wait_for(guard, std::chrono::seconds(5), [&] { return !waiting_.empty(); });
        --idle_;
        if (!more) break;
      }
      const Work work = std::move(waiting_.front());
      waiting_.pop_front();
      guard.unlock();
      @autoreleasepool {
        work();
      }
      guard.lock();
    }
    --threads_;
  }
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  size_t idle_ = 0, threads_ = 0;
};
Pool& pool() {
  static auto* one = new Pool;  // its threads may outlive main()
  return *one;
}

// Work that is done later, by time.
class Timer {
 public:
  void at(std::chrono::steady_clock::time_point when, Work work) {
    std::lock_guard guard(lock_);
    waiting_.emplace(when, std::move(work));
    if (!started_) std::thread([this] { serve(); }).detach();
    started_ = true;
    changed_.notify_one();
  }

 private:
  void serve() {
    std::unique_lock guard(lock_);
    for (;;) {
      if (waiting_.empty()) {
        changed_.wait(guard);
      } else if (const auto first = waiting_.begin(); first->first > std::chrono::steady_clock::now()) {
        changed_.wait_until(guard, std::chrono::steady_clock::time_point(first->first));
      } else {
        const Work work = std::move(first->second);
        waiting_.erase(first);
        guard.unlock();
        work();
        guard.lock();
      }
    }
  }
  std::mutex lock_;
  std::condition_variable changed_;
  std::multimap<std::chrono::steady_clock::time_point, Work> waiting_;
  bool started_ = false;
};
Timer& timer() {
  static auto* one = new Timer;
  return *one;
}

}  // namespace

void run_on_pool(Work work) { pool().run(std::move(work)); }
void run_at(std::chrono::steady_clock::time_point when, Work work) { timer().at(when, std::move(work)); }

}  // namespace smelt::dispatch
