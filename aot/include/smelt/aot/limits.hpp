// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compiling may take, and how it is ended before its time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace smelt::aot {

/// Looked at between tasks, between passes over the IR and between top-level declarations of Metal source. A pass is
/// never broken off, and neither is the code generator's work on one kernel, so a large one ends later. Then the call
/// is an error with `cancelled`, which names the limit.
struct Limits {
  std::chrono::milliseconds time{0};  ///< from Limited's beginning; 0: none
  uint64_t memory_bytes = 0;          ///< that the process may hold in memory meanwhile (resident); 0: any
  std::shared_ptr<const std::atomic<bool>> cancel;  ///< ends it when somebody sets it; may be null
};

/// Those of this thread; null: none.
const Limits* current_limits();
/// Until this thread's limit of time; at least a millisecond. Nothing when it has none.
std::optional<std::chrono::milliseconds> time_left();

class Watch;

/// While it lives, everything that this thread compiles has these limits, on whatever threads it is done. Inner ones
/// take the place of outer ones. Without any limit it does nothing.
class Limited {
 public:
  explicit Limited(const Limits& limits) {
    if (limits.time.count() != 0 || limits.memory_bytes != 0 || limits.cancel) begin(limits);
  }
  ~Limited() {
    if (watch_ != nullptr) end();
  }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  void begin(const Limits& limits);
  void end();
  const Watch* watch_ = nullptr;  // ours
  const Watch* outer_ = nullptr;
};

/// The limits of this thread for a task on another: `const Inherited on(watch)` there. Null: none.
const Watch* current_watch();
class Inherited {
 public:
  explicit Inherited(const Watch* watch);
  ~Inherited();
  Inherited(const Inherited&) = delete;
  Inherited& operator=(const Inherited&) = delete;

 private:
  const Watch* outer_;
};

}  // namespace smelt::aot
