// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single flight: if several processes and threads need one missing key, one makes it and the others wait.
#pragma once

#include "smelt/base/digest.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>

namespace smelt::cache {

/// Holds the right to make one key. The kernel gives it up when the process dies, however it dies; a forked child has
/// no part in it. Move-only; used by one thread.
class Flight {
 public:
  /// Waits until the key is free, `timeout` has passed, or the holder has not run for kStopped: it is stopped by a
  /// terminal, a container or a debugger. Then the flight is not `held()` and the caller makes the key anyway. Two keys
  /// may share a lock (2^24 of them): only a needless wait, so look in the store again after it. `ready`, when given,
  /// is asked between tries, up to 2,000 times a second (Store::indexed()): true ends the wait at once, not held, so
  /// that waiters need not take turns just to see that the work is done. `waits` is called after the first second.
  static Result<Flight> acquire(const std::filesystem::path& folder, const Digest& key,
                                std::chrono::milliseconds timeout, const std::function<bool()>& ready = {},
                                const std::function<void()>& waits = {});
  static constexpr std::chrono::milliseconds kStopped{5000};
  Flight(Flight&&) noexcept;
  Flight& operator=(Flight&&) noexcept;
  ~Flight();
  bool held() const { return held_; }
  bool waited() const { return waited_; }  ///< somebody else held it: the key is probably there now

 private:
  Flight() = default;
  int fd_ = -1;
  bool held_ = false;
  bool waited_ = false;
  uint64_t byte_ = 0;
  int process_ = 0;  // that acquired it
  struct Beat;
  Beat* beat_ = nullptr;  // of a held one
};

}  // namespace smelt::cache
