// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A local store with remotes behind it: found here, else there, else nowhere; kept here, then there in the background.
// The one place where it is decided what becomes of an entry that nobody trusted signed.
#pragma once

#include "smelt/cache/store.hpp"
#include "smelt/remote/remotes.hpp"
#include "smelt/signing/policy.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smelt::remote {

/// What an entry must be to be the answer to what was asked under its key. An empty one takes what there is.
struct Question {
  using Parts = std::vector<cache::Entry::Part>;
  /// Names what is not as it was asked for; such an entry is damaged: dropped, and absent. `arrived`: from a remote
  /// just now, so that its bytes have not been looked at either.
  std::function<Result<void>(const Parts& parts, bool arrived)> check;
  /// Given an entry whose native code is not to be used: the same entry with native code made here, as it was asked
  /// for, from what else is in it. Nothing: this kind of entry cannot be had without trust. Empty: what the store's
  /// options have.
  std::function<Result<std::optional<std::vector<Part>>>(const Parts& parts)> recompile;
  /// Of what a remote has without a trusted signature, where not all is trusted: whether its content proves that it
  /// belongs under the key; else it counts as absent. Empty: whoever asks knows what belongs there (`check`,
  /// `recompile`).
  std::function<bool(const Digest& key, const Parts& parts)> proves;
};

struct TierOptions {
  std::vector<Address> remotes;
  signing::Policy policy;
  /// The keys of `policy` are those of the environment: read when the store is opened with remotes, else when an entry
  /// is met that once came from one; never where trust is `any`.
  bool keys_of_environment = false;
  std::optional<signing::SecretKey> signing;  ///< what is put is signed with it
  /// Where `signing` is set: what no trusted key signed is used as the policy says all the same. What is made of it is
  /// not signed.
  bool takes_unsigned = false;
  Allowance allowance;  ///< what remotes may cost a compile, or a call by itself
  std::function<void(std::string_view)> warn;
  /// What an entry was made from: goes into its record. Empty: nothing is said.
  std::function<std::string(const std::vector<cache::Entry::Part>&)> made_from;
  /// Question::recompile of those who ask without one. Empty: no such entry can be had without trust.
  std::function<Result<std::optional<std::vector<Part>>>(const std::vector<cache::Entry::Part>&)> recompile;

  /// SMELT_REMOTE, SMELT_TRUST and SMELT_TRUSTED_KEYS, SMELT_SIGNING_KEY (a file), SMELT_TAKE_UNSIGNED.
  static Result<TierOptions> from_environment();
};

/// Threads: every method from any thread. Not usable across fork().
class TieredStore {
 public:
  /// `local` is shared. The folder's file `remotes` gathers the statistics of all processes.
  static Result<std::shared_ptr<TieredStore>> open(std::shared_ptr<cache::Store> local, TierOptions options);
  ~TieredStore();
  TieredStore(const TieredStore&) = delete;
  TieredStore& operator=(const TieredStore&) = delete;

  cache::Store& local() { return *local_; }
  const std::shared_ptr<cache::Store>& shared_local() const { return local_; }
  Remotes& remotes() { return *remotes_; }

  /// What may be used now and answers the question. What comes from a remote is kept here before it is returned.
  /// `fresh`: also ask remotes that missed a moment ago.
  Result<std::optional<cache::Entry>> find(const Digest& key, bool fresh = false, const Question& question = {});
  /// `questions`: one for each key, or none.
  Result<std::vector<std::optional<cache::Entry>>> find_all(const std::vector<Digest>& keys, bool fresh = false,
                                                            std::span<const Question> questions = {});

  /// As cache::Store::put_all; then what may be shared to the remotes, in the background. `hold` is released when they
  /// have it.
  Result<void> put_all(const std::vector<cache::Store::Put>& entries, std::shared_ptr<LeaseHold> hold = {});

  /// Entries of the local store to every remote that takes puts, now. `not_cached` names a key that is not here,
  /// `untrusted` one that may not be shared.
  Result<void> push(const std::vector<Digest>& keys);

  /// Parts that the local store does not hold, in the same way; made here.
  Result<void> push(const Digest& key, const std::vector<cache::Entry::Part>& parts);
  /// Errors: keys of the environment that cannot be read.
  Result<const signing::Policy*> policy();

  /// Sends what waits, for a second at most, and adds up the statistics; afterwards nothing is sent any more. The
  /// destructor does it too.
  void end();
  /// Until what was put has been sent to the remotes, or the time is over (false).
  bool flush(std::chrono::milliseconds most) { return remotes_->drain(most); }

  /// See Remotes::lease.
  Leased lease(const Digest& key, std::chrono::milliseconds timeout);

 private:
  friend void end_all();
  TieredStore(std::shared_ptr<cache::Store> local, TierOptions options, std::shared_ptr<Remotes> remotes);
  using Parts = std::vector<cache::Entry::Part>;
  struct Accepted;
  Result<signing::Use> use_of(const signing::Provenance& origin);
  std::optional<Accepted> accept(const Arrived& arrived, const Question& question);
  Result<std::optional<cache::Entry>> judge(const Digest& key, cache::Entry entry, const Question& question);
  std::optional<std::vector<Part>> remade(const Digest& key, const Parts& parts, const signing::Provenance& origin,
                                          const Question& question);
  void refuse(const Digest& key, const signing::Provenance& origin);
  void drop(const Digest& key, const Error& why);
  Result<void> keep(const std::vector<Digest>& keys, const std::vector<Accepted>& accepted);
  std::optional<Outgoing> outgoing(const Digest& key, const Parts& parts, const signing::Provenance& origin,
                                   std::chrono::microseconds cost) const;
  void warn_once(std::string_view kind, std::string_view text);

  std::shared_ptr<cache::Store> local_;
  TierOptions options_;
  std::mutex keys_mutex_;
  std::shared_ptr<Remotes> remotes_;
  std::mutex mutex_;
  std::vector<std::string> warned_;
  bool ended_ = false;
  const int process_;
};

/// end() of all that are open: for a process that ends without destroying them, as Python does.
void end_all();

}  // namespace smelt::remote
