// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/background.hpp"

#include "smelt/base/platform.hpp"

#include <unistd.h>

#include <atomic>
#include <system_error>

namespace smelt {

Background::Background() : process_(::getpid()) {}

Background& Background::of_process() {
  static std::atomic<Background*> current{new Background};
  Background* found = current.load();
  if (found->process_ == ::getpid()) return *found;
  auto* const fresh = new Background;
  if (current.compare_exchange_strong(found, fresh)) return *fresh;  // the parent's is left as it is
  delete fresh;
  return *found;
}

void Background::add(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (ends_) return;
  waiting_.push_back(std::move(work));
  if (works_) return;
  if (thread_.joinable()) thread_.join();  // it has nothing left to do
  try {
    thread_ = std::thread([this] { run(); });
    works_ = true;
  } catch (const std::system_error&) {
    // What waits is done with what is added next.
  }
}

void Background::run() {
  platform::lower_priority();
  for (;;) {
    std::function<void()> work;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        works_ = false;
        return;
      }
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

void Background::end() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    dropped.swap(waiting_);
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace smelt
