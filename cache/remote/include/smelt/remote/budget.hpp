// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What remotes may cost those who wait for them, all remotes together: time, round trips and memory. Waiting that led
// to an entry is not counted, only what led to nothing, so that a server that helps may take its time and one that does
// not has little of ours. (What a single call may take, and when a remote is left alone: address.hpp.)
#pragma once

#include "smelt/base/result.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace smelt::remote {

/// For one compile; where nobody compiles, for one call.
struct Allowance {
  std::chrono::milliseconds waiting{2000};     ///< that led to nothing
  unsigned round_trips = 1000;                 ///< that led to nothing
  uint64_t record_bytes = uint64_t{64} << 20;  ///< of the records of one call
  uint64_t part_bytes = uint64_t{512} << 20;   ///< of the parts of one call; as they travel, and unpacked
  uint64_t process_bytes = uint64_t{1} << 30;  ///< of all calls of the process, until their callers have let go

  /// SMELT_REMOTE_WAIT says how long, e.g. 500ms. Errors: `invalid_argument`.
  static Result<Allowance> from_environment();
};

/// What is left of an allowance. Threads: any.
class Budget {
 public:
  using MayGoOn = std::function<Result<void>()>;

  /// `may_go_on` is asked while bytes are unpacked, by the thread that does it: an error ends that, and the entry is a
  /// miss.
  explicit Budget(const Allowance& allowance = {}, MayGoOn may_go_on = {})
      : allowance_(allowance), may_go_on_(std::move(may_go_on)) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  const Allowance& allowance() const { return allowance_; }
  bool spent() const { return left().count() <= 0 || round_trips_ >= allowance_.round_trips; }
  std::chrono::milliseconds left() const;
  Result<void> may_go_on() const { return may_go_on_ ? may_go_on_() : Result<void>(); }
  /// A wait for `asked` things, of which `found` were there: the share of those that were not is gone.
  void charge(std::chrono::microseconds waited, unsigned round_trips, size_t found, size_t asked);

 private:
  const Allowance allowance_;
  const MayGoOn may_go_on_;
  std::atomic<int64_t> waited_us_{0};
  std::atomic<uint64_t> round_trips_{0};
};

/// Makes a budget that of this thread's calls until the scope ends. One inside another shares the outer one's: a
/// compile that has another made is one compile.
class BudgetScope {
 public:
  explicit BudgetScope(const Allowance& allowance, Budget::MayGoOn may_go_on = {});
  ~BudgetScope();
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;

  /// Null outside of every scope.
  static Budget* current();

 private:
  Budget own_;
  Budget* const outer_;
};

/// Memory of this process that entries out of remotes have, until it is destroyed. Threads: any.
class Claim {
 public:
  /// Null when all claims of the process would be more than `most`.
  static std::shared_ptr<const Claim> of(uint64_t bytes, uint64_t most);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

 private:
  explicit Claim(uint64_t bytes) : bytes_(bytes) {}
  const uint64_t bytes_;
};

}  // namespace smelt::remote
