// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interruptible.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <vector>

namespace smelt::python {
namespace {

/// Never destroyed: join_abandoned() empties it while the process is whole.
struct Abandoned {
  std::mutex mutex;
  std::vector<std::unique_ptr<BackgroundWork>> works;
};
Abandoned& abandoned() {
  static auto* const list = new Abandoned;
  return *list;
}

#ifdef __GLIBC__
/// What a compile may take to see that it is cancelled. Clang's front end may never look.
constexpr std::chrono::milliseconds kGrace{200}, kLeast{1};

/// In place of the destructors of what a thread may still use. It runs before theirs, being registered after them.
void end_at_once(int status, void*) {
  std::fflush(nullptr);
  ::_exit(status);
}
#endif

}  // namespace

BackgroundWork::BackgroundWork(std::function<void()> work, std::shared_ptr<std::atomic<bool>> cancel)
    : cancel_(std::move(cancel)) {
  const auto run = [this, work = std::move(work)]() mutable {
    work();
    work = nullptr;  // what it held is gone before anybody is told
    const std::lock_guard lock(mutex_);
    done_ = true;
    ended_.notify_all();
  };
  try {
    thread_ = std::thread(run);
  } catch (const std::system_error&) {
    auto here = run;  // no thread to be had: without a way to end it
    here();
  }
}

BackgroundWork::~BackgroundWork() {
  if (thread_.joinable()) thread_.join();
}

bool BackgroundWork::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, time, [this] { return done_; });
}

bool wait_interruptibly(std::unique_ptr<BackgroundWork> work) {
  using namespace std::chrono_literals;
  {
    // Those that have ended meanwhile.
    const std::lock_guard lock(abandoned().mutex);
    std::erase_if(abandoned().works, [](const auto& one) { return one->wait_for(0ms); });
  }
  while (!work->wait_for(20ms)) {
    if (!signals_arrived()) continue;
    work->cancel();
    if (work->wait_for(50ms)) return true;
    const std::lock_guard lock(abandoned().mutex);
    abandoned().works.push_back(std::move(work));
    return false;
  }
  return true;
}

void join_abandoned() {
  std::vector<std::unique_ptr<BackgroundWork>> works;
  {
    const std::lock_guard lock(abandoned().mutex);
    works.swap(abandoned().works);
  }
  for (const auto& work : works) work->cancel();
#ifdef __GLIBC__
  const auto until = std::chrono::steady_clock::now() + kGrace;
  for (auto& work : works) {
    const auto left = until - std::chrono::steady_clock::now();
    if (work->wait_for(std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left), kLeast))) continue;
    (void)work.release();  // it goes on until the process ends
    static std::once_flag once;
    std::call_once(once, [] { ::on_exit(end_at_once, nullptr); });
  }
#endif
}

}  // namespace smelt::python
