// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/remote/tiered_store.hpp"

#include "environment.hpp"
#include "packing.hpp"
#include "statistics_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace smelt::remote {
namespace {

cache::Entry to_entry(const std::vector<Part>& parts, const signing::Provenance& origin) {
  std::vector<std::pair<std::string, Bytes>> owned;
  for (const Part& part : parts) owned.emplace_back(part.name, part.bytes);
  return cache::Entry::of(std::move(owned), origin);
}

/// Those of this process. Never destroyed: end_all() may be called late. A forked child begins anew: its parent's may
/// be locked, by a thread that the child has not.
struct OpenStores {
  const pid_t process = ::getpid();
  std::mutex mutex;
  std::vector<TieredStore*> stores;
};
OpenStores& open_stores() {
  static std::atomic<OpenStores*> all{new OpenStores};
  OpenStores* found = all.load();
  if (found->process == ::getpid()) return *found;
  auto* const fresh = new OpenStores;
  if (all.compare_exchange_strong(found, fresh)) return *fresh;
  delete fresh;
  return *found;
}

std::vector<cache::Entry::Part> views(const std::vector<Part>& parts) {
  std::vector<cache::Entry::Part> made;
  for (const Part& part : parts) made.push_back({part.name, part.bytes});
  return made;
}

}  // namespace

Result<TierOptions> TierOptions::from_environment() {
  TierOptions options;
  SMELT_TRY(options.remotes, parse_addresses(environment("SMELT_REMOTE")));
  SMELT_TRY(options.allowance, Allowance::from_environment());
  SMELT_TRY(options.policy.level, signing::level_from_environment());
  options.keys_of_environment = true;
  if (const std::string file = environment("SMELT_SIGNING_KEY"); !file.empty()) {
    SMELT_TRY(options.signing, signing::read_secret_key(file));
  }
  options.takes_unsigned = signing::Policy::takes_unsigned_in_environment();
  return options;
}

/// An entry that may be used.
struct TieredStore::Accepted {
  std::vector<Part> parts;
  signing::Provenance origin;
  std::chrono::microseconds cost{};
};

TieredStore::TieredStore(std::shared_ptr<cache::Store> local, TierOptions options, std::shared_ptr<Remotes> remotes)
    : local_(std::move(local)), options_(std::move(options)), remotes_(std::move(remotes)), process_(::getpid()) {}

Result<std::shared_ptr<TieredStore>> TieredStore::open(std::shared_ptr<cache::Store> local, TierOptions options) {
  SMELT_TRY(auto remotes, Remotes::open(options.remotes, options.warn, options.allowance));
  const bool has_remotes = !options.remotes.empty();
  options.policy.takes_unsigned = !options.signing || options.takes_unsigned;
  auto opened = std::shared_ptr<TieredStore>(new TieredStore(std::move(local), std::move(options), std::move(remotes)));
  // A setting that cannot be meant is told at once to who uses remotes, and to nobody else.
  if (has_remotes) SMELT_TRY_VOID(opened->policy());
  const std::lock_guard lock(open_stores().mutex);
  open_stores().stores.push_back(opened.get());
  return opened;
}

Result<const signing::Policy*> TieredStore::policy() {
  const std::lock_guard lock(keys_mutex_);
  if (options_.keys_of_environment) {
    const bool takes_unsigned = options_.policy.takes_unsigned;
    SMELT_TRY(options_.policy, signing::Policy::from_environment_for(signing::Origin::remote, options_.policy.level));
    options_.policy.takes_unsigned = takes_unsigned;
    options_.keys_of_environment = false;
  }
  return &options_.policy;
}

Result<signing::Use> TieredStore::use_of(const signing::Provenance& origin) {
  {
    const std::lock_guard lock(keys_mutex_);
    if (options_.policy.use(origin) == signing::Use::yes) return signing::Use::yes;
  }
  SMELT_TRY(const signing::Policy* const policy, this->policy());
  return policy->use(origin);
}

TieredStore::~TieredStore() {
  {
    const std::lock_guard lock(open_stores().mutex);
    std::erase(open_stores().stores, this);
  }
  end();
}

void TieredStore::end() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true)) return;
  }
  if (remotes_->empty() || process_ != ::getpid()) return;  // a forked child has not its parent's threads
  remotes_->end();
  if (!local_->read_only()) add_statistics(local_->folder(), remotes_->statistics());
}

void end_all() {
  std::vector<TieredStore*> all;
  {
    const std::lock_guard lock(open_stores().mutex);
    all = open_stores().stores;
  }
  for (TieredStore* store : all) store->end();
}

void TieredStore::warn_once(std::string_view kind, std::string_view text) {
  {
    const std::lock_guard lock(mutex_);
    if (std::find(warned_.begin(), warned_.end(), kind) != warned_.end()) return;
    warned_.emplace_back(kind);
  }
  if (options_.warn) options_.warn(text);
}

void TieredStore::refuse(const Digest& key, const signing::Provenance& origin) {
  const std::string why = options_.policy.explain(origin);
  warn_once("refused " + why,
            fmt::format("{}: the entry is not used: {}. It counts as a miss (reported once for each remote)",
                        to_hex(key), why));
}

std::optional<std::vector<Part>> TieredStore::remade(const Digest& key, const Parts& parts,
                                                     const signing::Provenance& origin, const Question& question) {
  const auto& recompile = question.recompile ? question.recompile : options_.recompile;
  if (!recompile) {
    refuse(key, origin);
    return std::nullopt;
  }
  const std::string why = options_.policy.explain(origin);
  auto made = recompile(parts);
  if (made && !*made) {
    refuse(key, origin);
    return std::nullopt;
  }
  if (made && question.check)
    if (auto checked = question.check(views(**made), true); !checked) made = tl::unexpected(checked.error());
  if (!made) {
    warn_once("refused " + why, fmt::format("{}: its native code is not used: {}. Making it here failed: {}",
                                            to_hex(key), why, made.error().message));
    return std::nullopt;
  }
  warn_once("remade " + why,
            fmt::format("{}: its native code is not used: {}. It is made here instead (reported once for each remote)",
                        to_hex(key), why));
  return std::move(**made);
}

void TieredStore::drop(const Digest& key, const Error& why) {
  warn_once("damaged", fmt::format("{}: the entry is not what was asked for, and is dropped: {} (reported once)",
                                   to_hex(key), why.message));
  if (local_->read_only()) return;
  if (auto removed = local_->remove(key); !removed) warn_once("drop", removed.error().message);
}

/// What a remote gave, when it may be used and answers the question.
std::optional<TieredStore::Accepted> TieredStore::accept(const Arrived& arrived, const Question& question) {
  const schema::EntryRecord& record = arrived.record;
  for (const Part& part : arrived.parts)
    if (part.name == signing::kOriginPart || part.name == signing::kSourcePart)
      return std::nullopt;  // ours alone to write
  auto signer = record.signatures.empty()
                    ? std::nullopt
                    : options_.policy.signer(as_bytes(schema::statement(record)), record.signatures);
  Accepted accepted{
      {},
      signing::Provenance::of_remote(arrived.from, std::move(signer), record.made_from, record.signatures),
      std::chrono::microseconds(static_cast<int64_t>(std::min<uint64_t>(record.cost_us, INT64_MAX)))};
  const Parts parts = views(arrived.parts);
  switch (options_.policy.use(accepted.origin)) {
    case signing::Use::no:
      refuse(record.key, accepted.origin);
      return std::nullopt;
    case signing::Use::metal_only:
      if (question.proves && !question.proves(record.key, parts)) {
        refuse(record.key, accepted.origin);
        return std::nullopt;
      }
      if (auto made = remade(record.key, parts, accepted.origin, question))
        accepted.parts = std::move(*made);
      else
        return std::nullopt;
      accepted.origin = accepted.origin.remade();
      return accepted;
    case signing::Use::yes:
      break;
  }
  if (question.check)
    if (auto checked = question.check(parts, true); !checked) {
      remotes_->count_damaged(arrived.from);
      warn_once("damaged " + arrived.from, fmt::format("{} from {}: it is not what was asked for: {}. The entry counts "
                                                       "as a miss (reported once for each remote)",
                                                       to_hex(record.key), arrived.from, checked.error().message));
      return std::nullopt;
    }
  accepted.parts = arrived.parts;
  return accepted;
}

Result<void> TieredStore::keep(const std::vector<Digest>& keys, const std::vector<Accepted>& accepted) {
  if (local_->read_only() || keys.empty()) return {};
  std::vector<cache::Store::Put> puts;
  for (size_t i = 0; i < keys.size(); ++i) {
    cache::Store::Put put{keys[i], {}, accepted[i].origin, accepted[i].cost};
    for (const Part& part : accepted[i].parts) put.parts.push_back({part.name, part.bytes});
    puts.push_back(std::move(put));
  }
  return local_->put_all(puts);
}

/// What the local store has, when it may still be used and answers the question: a key may have been withdrawn since
/// it came, or trust was `any`.
Result<std::optional<cache::Entry>> TieredStore::judge(const Digest& key, cache::Entry entry,
                                                       const Question& question) {
  SMELT_TRY(const signing::Use use, use_of(entry.origin()));
  if (use == signing::Use::no) {
    refuse(key, entry.origin());
    return std::optional<cache::Entry>();
  }
  if (use == signing::Use::yes) {
    if (question.check)
      if (auto checked = question.check(entry.parts(), false); !checked) {
        drop(key, checked.error());
        return std::optional<cache::Entry>();
      }
    return std::optional(std::move(entry));
  }
  auto made = remade(key, entry.parts(), entry.origin(), question);
  if (!made) return std::optional<cache::Entry>();
  const Accepted accepted{std::move(*made), entry.origin().remade(), {}};
  SMELT_TRY_VOID(keep({key}, {accepted}));
  return std::optional(to_entry(accepted.parts, accepted.origin));
}

Result<std::optional<cache::Entry>> TieredStore::find(const Digest& key, bool fresh, const Question& question) {
  SMELT_TRY(auto found, find_all({key}, fresh, std::span(&question, 1)));
  return std::move(found[0]);
}

Result<std::vector<std::optional<cache::Entry>>> TieredStore::find_all(const std::vector<Digest>& keys, bool fresh,
                                                                       std::span<const Question> questions) {
  static const Question none;
  const auto question = [&](size_t i) -> const Question& { return questions.empty() ? none : questions[i]; };
  std::vector<std::optional<cache::Entry>> entries;
  if (keys.size() == 1) {
    SMELT_TRY(entries.emplace_back(), local_->find(keys[0]));
  } else {
    SMELT_TRY(entries, local_->find_all(keys));
  }
  std::vector<size_t> missing;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (entries[i]) {
      SMELT_TRY(entries[i], judge(keys[i], std::move(*entries[i]), question(i)));
    }
    if (!entries[i]) missing.push_back(i);
  }
  if (missing.empty() || remotes_->empty()) return entries;
  std::vector<Digest> wanted;
  for (const size_t i : missing) wanted.push_back(keys[i]);
  const auto arrived = remotes_->find(wanted, fresh);
  std::vector<Digest> kept_keys;
  std::vector<Accepted> kept;
  for (size_t m = 0; m < missing.size(); ++m) {
    if (!arrived[m]) continue;
    auto accepted = accept(*arrived[m], question(missing[m]));
    if (!accepted) continue;
    entries[missing[m]] = to_entry(accepted->parts, accepted->origin);
    kept_keys.push_back(wanted[m]);
    kept.push_back(std::move(*accepted));
  }
  // A store that cannot take them costs a later round trip, not this one's result.
  if (auto put = keep(kept_keys, kept); !put) warn_once("keep", put.error().message);
  return entries;
}

/// Nothing: it may not be shared.
std::optional<Outgoing> TieredStore::outgoing(const Digest& key, const Parts& parts, const signing::Provenance& origin,
                                              std::chrono::microseconds cost) const {
  signing::Sharing sharing = options_.policy.share(origin, std::nullopt);
  // Our public key costs as much as a signature: it is asked for only where it can make a difference.
  if (sharing.how == signing::Sharing::How::no && options_.signing)
    sharing = options_.policy.share(origin, signing::public_key(*options_.signing));
  if (sharing.how == signing::Sharing::How::no) return std::nullopt;
  Outgoing entry{key, std::move(sharing.made_from), cost, {}, std::move(sharing.signatures)};
  for (const auto& part : parts)
    if (part.name != signing::kSourcePart) entry.parts.push_back({std::string(part.name), to_bytes(part.bytes)});
  if (sharing.how == signing::Sharing::How::as_it_came) return entry;
  if (options_.made_from) entry.made_from = options_.made_from(parts);
  if (options_.signing) {
    const std::string text = schema::statement(statement_record(entry));
    entry.signatures.push_back(signing::to_text(signing::sign(*options_.signing, as_bytes(text))));
  }
  return entry;
}

Result<void> TieredStore::put_all(const std::vector<cache::Store::Put>& entries, std::shared_ptr<LeaseHold> hold) {
  SMELT_TRY_VOID(local_->put_all(entries));
  if (!remotes_->takes_puts()) return {};
  std::vector<Outgoing> later;
  for (const auto& entry : entries) {
    Parts parts;
    for (const cache::PartIn& part : entry.parts) parts.push_back({part.name, part.bytes});
    if (auto shared = outgoing(entry.key, parts, entry.origin, entry.cost)) later.push_back(std::move(*shared));
  }
  if (!later.empty()) remotes_->put_later(std::move(later), std::move(hold));
  return {};
}

Result<void> TieredStore::push(const std::vector<Digest>& keys) {
  SMELT_TRY(const auto entries, local_->find_all(keys));
  std::vector<Outgoing> now;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!entries[i])
      return fail(Errc::not_cached, "push: no entry {} in store {}", to_hex(keys[i]), local_->folder().string());
    SMELT_TRY(const signing::Policy* const policy, this->policy());
    auto shared = outgoing(keys[i], entries[i]->parts(), entries[i]->origin(), {});
    if (!shared)
      return fail(Errc::untrusted, "push {}: an entry from others is sent on only with their signature: {}",
                  to_hex(keys[i]), policy->explain(entries[i]->origin()));
    now.push_back(std::move(*shared));
  }
  return remotes_->put_now(now);
}

Result<void> TieredStore::push(const Digest& key, const std::vector<cache::Entry::Part>& parts) {
  const auto entry = outgoing(key, parts, signing::Provenance::made_here(), {});
  return remotes_->put_now(std::span(&*entry, 1));
}

Leased TieredStore::lease(const Digest& key, std::chrono::milliseconds timeout) {
  // Whoever holds it puts the entry where we look: at the remotes.
  return remotes_->lease(
      key, timeout, [&](Budget& budget) { return remotes_->find(std::span(&key, 1), true, &budget)[0].has_value(); });
}

}  // namespace smelt::remote
