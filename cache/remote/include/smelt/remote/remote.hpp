// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One remote: entries in and out of a server, and when to leave it alone. What a remote does wrong is never an error of
// its caller's, only a miss that is counted.
#pragma once

#include "smelt/remote/address.hpp"
#include "smelt/remote/entry.hpp"
#include "smelt/remote/transport.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smelt::remote {

/// Counts of this process.
struct Statistics {
  uint64_t hits = 0, misses = 0;               ///< entries
  uint64_t remembered = 0;                     ///< of the misses: not asked, the answer was still known
  uint64_t damaged = 0;                        ///< of the misses: there, but not what it should be
  uint64_t errors = 0;                         ///< calls that failed
  uint64_t resting = 0;                        ///< entries not asked for, or not sent: it rests, the budget is spent
  uint64_t puts = 0, dropped = 0;              ///< entries sent; not sent in time
  uint64_t bytes_read = 0, bytes_written = 0;  ///< as they travel
  uint64_t round_trips = 0;
  uint64_t microseconds = 0;  ///< spent waiting for it by those who wanted something

  Statistics& operator+=(const Statistics& other);
};

/// Threads: every method from any thread. Not usable across fork().
class Remote {
 public:
  using Warn = std::function<void(std::string_view)>;
  /// Does not connect. `warn` is called when it begins to rest, once each time.
  static Result<std::shared_ptr<Remote>> open(const Address& address, Warn warn = {});
  ~Remote();
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  const Address& address() const;

  /// In the order of the keys: one batch for the records, one for the blobs. `fresh`: misses that are remembered do not
  /// count. `budget`: what the wait goes to and what an answer may hold; null: the thread's (BudgetScope), else one of
  /// the call's own.
  std::vector<std::optional<Arrived>> find(std::span<const Digest> keys, bool fresh = false, Budget* budget = nullptr);

  /// Sends entries now, a batch at a time: blobs that are not there yet, then the records. `sent`: how many of them,
  /// from the first, are there. Says why, when not all went. `cancel` ends it soon. Calling it on a read-only remote is
  /// an error.
  Result<void> put(std::span<const Outgoing> entries, const std::atomic<bool>* cancel = nullptr,
                   size_t* sent = nullptr);
  /// Whether a put would be tried at all.
  bool takes_puts() const;
  void count_dropped(uint64_t entries);
  void count_damaged();

  bool has_leases() const;
  /// Leases of it were waited for and for nothing: for a while it has none.
  void rest_leases(std::string_view why);
  /// An error when the remote rests or fails.
  Result<LeaseAnswer> take(const Lease& lease, const std::atomic<bool>* cancel = nullptr);
  void give_back(const Lease& lease);

  /// Whether a rest is over: true for one caller, who has probe() called where nobody waits.
  bool probe_due();
  /// Asks the server for something, if probe_due() said so. `cancel` ends it soon.
  void probe(const std::atomic<bool>* cancel = nullptr);

  Statistics statistics() const;

 private:
  Result<void> put_batch(std::span<const Outgoing> entries, const std::atomic<bool>* cancel);
  struct State;
  explicit Remote(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace smelt::remote
