// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work that nobody waits for.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace smelt {

/// One thread that does one piece of work after another and lets all others go first (on Linux and macOS). It lives
/// while there is something to do. Threads: all calls from any.
class Background {
 public:
  /// This process's, which a forked child has of its own: what its parent had begun or waiting is the parent's. Never
  /// destroyed.
  static Background& of_process();

  Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Must not throw. Not begun once end() was called, nor where the system gives no thread until one is to be had.
  void add(std::function<void()> work);
  /// For the end of the process: drops what has not begun and waits for what has, which is to be told to end before.
  void end();

 private:
  void run();

  const int process_;
  std::mutex mutex_;  // guards what follows
  std::deque<std::function<void()>> waiting_;
  bool works_ = false;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace smelt
