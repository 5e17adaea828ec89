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

using namespace std::chrono_literals;

constexpr auto kLongestEnd = 5s;  // of what was told to end
#ifdef __GLIBC__
// What a compile that nobody waits for may take to see that it is cancelled. Clang's front end may never look.
constexpr std::chrono::milliseconds kGrace{200}, kLeast{1};

/// In place of the destructors of what a thread may still use. It runs before theirs, being registered after them.
void end_at_once(int status, void*) {
  std::fflush(nullptr);
  ::_exit(status);
}
#endif

/// Never destroyed: end_works() empties it while the process is whole.
struct Works {
  std::mutex mutex;
  std::vector<BackgroundWork*> running;                    // somebody waits for them
  std::vector<std::unique_ptr<BackgroundWork>> abandoned;  // nobody does any more
  std::atomic<bool> ending{false};
};
Works& all_works() {
  static auto* const list = new Works;
  return *list;
}

/// Threads that are left when the interpreter ends are daemons.
void stay_if_all_ends() {
  if (all_works().ending && !is_main_thread()) sleep_to_the_end();
}

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

bool wait_interruptibly(std::unique_ptr<BackgroundWork> work, bool waited_for) {
  Works& works = all_works();
  {
    const std::lock_guard lock(works.mutex);
    std::erase_if(works.abandoned, [](const auto& one) { return one->wait_for(0ms); });  // ended meanwhile
    if (works.ending) work->cancel();
    works.running.push_back(work.get());
  }
  bool done = false;
  while (!(done = work->wait_for(20ms))) {
    if (!signals_arrived()) continue;
    work->cancel();
    done = work->wait_for(50ms);
    break;
  }
  {
    const std::lock_guard lock(works.mutex);
    std::erase(works.running, work.get());
    if (!done) works.abandoned.push_back(std::move(work));
  }
  if (!waited_for) stay_if_all_ends();
  return done;
}

void end_works() {
  Works& works = all_works();
  std::vector<std::unique_ptr<BackgroundWork>> abandoned;
  {
    // Nobody comes back from waiting meanwhile.
    const std::lock_guard lock(works.mutex);
    works.ending = true;
    abandoned.swap(works.abandoned);
    for (BackgroundWork* const one : works.running) one->cancel();
    const auto until = std::chrono::steady_clock::now() + kLongestEnd;
    for (BackgroundWork* const one : works.running)
      one->wait_for(
          std::max(std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()),
                   std::chrono::milliseconds(0)));
  }
  for (const auto& work : abandoned) work->cancel();
#ifdef __GLIBC__
  const auto until = std::chrono::steady_clock::now() + kGrace;
  for (auto& work : abandoned) {
    const auto left = until - std::chrono::steady_clock::now();
    if (work->wait_for(std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left), kLeast))) continue;
    (void)work.release();  // it goes on until the process ends
    static std::once_flag once;
    std::call_once(once, [] { ::on_exit(end_at_once, nullptr); });
  }
#endif
}

}  // namespace smelt::python
