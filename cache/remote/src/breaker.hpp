// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When a remote is left alone. After three failures in a row, when failing calls have cost this process more than the
// budget, or when the server asks for it, it rests; after that one probe, which no reader waits for, decides whether it
// is back. Private to remote. Threads: any.
#pragma once

#include "smelt/remote/address.hpp"

#include <chrono>
#include <mutex>
#include <optional>

namespace smelt::remote {

class Breaker {
 public:
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::milliseconds;

  Breaker(Milliseconds budget, Milliseconds rest) : budget_(budget), rest_(rest) {}

  /// Nothing while it rests; else how long a call may wait for a byte at most.
  std::optional<Milliseconds> patience(Milliseconds usual) const;
  /// True for one caller each time a rest is over: that one has a probe made.
  bool probe_due();

  void succeeded();
  /// `cost`: how long somebody waited for nothing. `at_once`: no second and third try. Returns true when this one began
  /// a rest.
  bool failed(Milliseconds cost, bool at_once, std::optional<std::chrono::seconds> retry_after);
  /// It answered, but so slowly and with so little that the wait was for nothing. Returns true when that began a rest.
  bool wasted(Milliseconds cost);
  void probed(bool answers);
  bool resting() const;

 private:
  bool begin_rest(std::optional<std::chrono::seconds> retry_after);

  mutable std::mutex mutex_;
  Milliseconds budget_, rest_;
  Milliseconds wasted_{0};
  int failures_ = 0;
  bool resting_ = false, probing_ = false;
  Clock::time_point until_{};
};

}  // namespace smelt::remote
