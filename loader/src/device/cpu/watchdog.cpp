// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "watchdog.hpp"

#include <unistd.h>

#include <utility>

namespace smelt::loader {

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  if (process_ != ::getpid()) {
    thread_.detach();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Watchdog::Launch::Launch(Watchdog& watchdog, smelt_cpu_fault& record)
    : watchdog_(watchdog.limit_.count() == 0 ? nullptr : &watchdog), record_(record) {
  if (watchdog_ == nullptr) return;
  until_ = std::chrono::steady_clock::now() + watchdog.limit_;
  bool wake = false;
  {
    const std::lock_guard lock(watchdog.mutex_);
    place_ = watchdog.launches_.insert(watchdog.launches_.end(), this);
    if (watchdog.process_ != ::getpid()) {
      if (watchdog.thread_.joinable()) watchdog.thread_.detach();
      watchdog.process_ = ::getpid();
      watchdog.thread_ = std::thread([&watchdog] { watchdog.watch(); });
    }
    wake = std::exchange(watchdog.sleeps_, false);
  }
  if (wake) watchdog.wake_.notify_one();
}

Watchdog::Launch::~Launch() {
  if (watchdog_ == nullptr) return;
  const std::lock_guard lock(watchdog_->mutex_);
  if (place_ != watchdog_->launches_.end()) watchdog_->launches_.erase(place_);
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  auto idle_until = std::chrono::steady_clock::now();
  while (!ends_) {
    const auto now = std::chrono::steady_clock::now();
    while (!launches_.empty() && launches_.front()->until_ <= now) {
      Launch& over = *launches_.front();
      end_launch(over.record_);
      over.place_ = launches_.end();
      launches_.pop_front();
    }
    if (!launches_.empty()) {
      idle_until = launches_.front()->until_ + limit_;
      wake_.wait_until(lock, launches_.front()->until_);
    } else if (now < idle_until) {  // launches follow one another: nobody has to wake a thread for each of them
      wake_.wait_until(lock, idle_until);
    } else {
      sleeps_ = true;
      wake_.wait(lock, [&] { return ends_ || !sleeps_; });
      sleeps_ = false;
    }
  }
}

}  // namespace smelt::loader
