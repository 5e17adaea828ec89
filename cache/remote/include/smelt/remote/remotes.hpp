// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Remotes in order, nearest first, with one thread that sends what is to be kept while everybody else goes on.
#pragma once

#include "smelt/remote/remote.hpp"

#include <filesystem>

namespace smelt::remote {

/// The right to make one key, of all machines that share a remote. Renewed by a thread of its own until it is released
/// or the process dies; then it is free within a second and a half.
class LeaseHold {
 public:
  virtual ~LeaseHold() = default;
};

struct Leased {
  std::shared_ptr<LeaseHold> hold;  ///< null: no remote has leases, or none answers, or the wait was over
  bool waited = false;              ///< somebody else held it: the key is probably there now
};

struct RemoteCount {
  std::string name;
  Statistics statistics;
};

/// Of all processes that have used the store in this folder and have ended.
std::vector<RemoteCount> read_statistics(const std::filesystem::path& store_folder);
void reset_statistics(const std::filesystem::path& store_folder);

/// Threads: every method from any thread. Not usable across fork().
class Remotes {
 public:
  /// `allowance`: for calls in no BudgetScope.
  static Result<std::shared_ptr<Remotes>> open(const std::vector<Address>& addresses, Remote::Warn warn = {},
                                               const Allowance& allowance = {});
  const Allowance& allowance() const;
  /// Finishes what is to be sent, for a second at most; the rest is dropped and counted.
  ~Remotes();
  Remotes(const Remotes&) = delete;
  Remotes& operator=(const Remotes&) = delete;

  bool empty() const;

  /// Each key from the first remote that has it. `budget`: of all remotes together (Remote::find).
  std::vector<std::optional<Arrived>> find(std::span<const Digest> keys, bool fresh = false, Budget* budget = nullptr);

  /// Sent by the background thread to every remote that is not read-only; `hold` is released after that. More than
  /// 256 MiB waiting: the newest are dropped and counted.
  void put_later(std::vector<Outgoing> entries, std::shared_ptr<LeaseHold> hold = {});
  /// Sent now; the first trouble of any remote that takes puts. `invalid_argument` when none does.
  Result<void> put_now(std::span<const Outgoing> entries);
  /// Whether anybody would be given what is put.
  bool takes_puts() const;
  /// Until nothing waits to be sent, or the time is over (false).
  bool drain(std::chrono::milliseconds most);
  /// What the destructor does: afterwards nothing is sent any more, and statistics() is final.
  void end();

  /// Waits for the key's lease at the nearest remote that has leases. `ready` ends the wait, not held; what it asks the
  /// remotes is put down to its budget. A lease that nobody renews is given up after two of its periods: then whoever
  /// had it is dead, or never was.
  Leased lease(const Digest& key, std::chrono::milliseconds timeout, const std::function<bool(Budget&)>& ready);

  std::vector<RemoteCount> statistics() const;
  /// An entry of the remote that is shown as `from` was not what was asked for.
  void count_damaged(std::string_view from);

 private:
  struct State;
  explicit Remotes(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace smelt::remote
