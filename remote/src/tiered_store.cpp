// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/remote/tiered_store.hpp"

#include "smelt/trust/origin.hpp"

#include "environment.hpp"
#include "packing.hpp"
#include "statistics_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace smelt::remote {
namespace {

cache::Entry to_entry(const std::vector<Part>& parts) {
  std::vector<std::pair<std::string, Bytes>> owned;
  for (const Part& part : parts) owned.emplace_back(part.name, part.bytes);
  return cache::Entry::of(std::move(owned));
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
  SMELT_TRY(options.policy.level, trust::level_from_environment());
  options.keys_of_environment = true;
  if (const std::string file = environment("SMELT_SIGNING_KEY"); !file.empty()) {
    SMELT_TRY(options.signing, trust::read_secret_key(file));
  }
  return options;
}

/// An entry that may be used, with what is kept of where it came from.
struct TieredStore::Accepted {
  std::vector<Part> parts;
  std::chrono::microseconds cost{};
  std::string origin;  ///< empty: its native code was made here
};

TieredStore::TieredStore(std::shared_ptr<cache::Store> local, TierOptions options, std::shared_ptr<Remotes> remotes)
    : local_(std::move(local)), options_(std::move(options)), remotes_(std::move(remotes)), process_(::getpid()) {}

Result<std::shared_ptr<TieredStore>> TieredStore::open(std::shared_ptr<cache::Store> local, TierOptions options) {
  SMELT_TRY(auto remotes, Remotes::open(options.remotes, options.warn, options.allowance));
  const bool has_remotes = !options.remotes.empty();
  auto opened = std::shared_ptr<TieredStore>(new TieredStore(std::move(local), std::move(options), std::move(remotes)));
  // A setting that cannot be meant is told at once to who uses remotes, and to nobody else.
  if (has_remotes) SMELT_TRY_VOID(opened->policy());
  const std::lock_guard lock(open_stores().mutex);
  open_stores().stores.push_back(opened.get());
  return opened;
}

Result<const trust::Policy*> TieredStore::policy() {
  const std::lock_guard lock(keys_mutex_);
  if (options_.keys_of_environment) {
    SMELT_TRY(options_.policy, trust::Policy::from_environment_for(trust::Origin::remote, options_.policy.level));
    options_.keys_of_environment = false;
  }
  return &options_.policy;
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

std::optional<std::vector<Part>> TieredStore::without_trust(const Digest& key, const Parts& parts,
                                                            std::string_view from,
                                                            const std::vector<std::string>& signatures) {
  const std::string why = fmt::format("{} from {}: its native code is not used: {}", to_hex(key), from,
                                      options_.policy.explain(signatures));
  if (options_.remake) {
    auto remade = options_.remake(parts);
    if (remade && *remade) {
      warn_once(fmt::format("remade {}", from), why + ". It is made here instead (said once for each remote)");
      return std::move(**remade);
    }
    if (!remade) {
      warn_once(fmt::format("refused {}", from),
                fmt::format("{}. Making it here failed: {}", why, remade.error().message));
      return std::nullopt;
    }
  }
  warn_once(fmt::format("refused {}", from), why + ". The entry counts as a miss (said once for each remote)");
  return std::nullopt;
}

std::optional<TieredStore::Accepted> TieredStore::accept(const Arrived& arrived) {
  const schema::EntryRecord& record = arrived.record;
  for (const Part& part : arrived.parts)
    if (part.name == trust::kOriginPart) return std::nullopt;  // ours alone to write
  const auto signer = record.signatures.empty()
                          ? std::nullopt
                          : options_.policy.signer(as_bytes(schema::statement(record)), record.signatures);
  Accepted accepted;
  accepted.cost = std::chrono::microseconds(static_cast<int64_t>(std::min<uint64_t>(record.cost_us, INT64_MAX)));
  if (options_.policy.allows(trust::Origin::remote, signer.has_value())) {
    accepted.parts = arrived.parts;
    accepted.origin = to_text(
        trust::Provenance{arrived.from, signer ? trust::to_text(*signer) : "", record.made_from, record.signatures});
    return accepted;
  }
  auto remade = without_trust(record.key, views(arrived.parts), arrived.from, record.signatures);
  if (!remade) return std::nullopt;
  accepted.parts = std::move(*remade);
  return accepted;
}

Result<void> TieredStore::keep(const std::vector<Digest>& keys, const std::vector<Accepted>& accepted) {
  if (local_->read_only() || keys.empty()) return {};
  std::vector<cache::Store::Put> puts;
  for (size_t i = 0; i < keys.size(); ++i) {
    cache::Store::Put put{keys[i], {}, accepted[i].cost};
    for (const Part& part : accepted[i].parts) put.parts.push_back({part.name, part.bytes});
    if (!accepted[i].origin.empty()) put.parts.push_back({trust::kOriginPart, as_bytes(accepted[i].origin)});
    puts.push_back(std::move(put));
  }
  return local_->put_all(puts);
}

Result<std::optional<cache::Entry>> TieredStore::check_origin(const Digest& key, cache::Entry entry) {
  const auto text = entry.part(trust::kOriginPart);
  if (!text) return std::optional(std::move(entry));
  SMELT_TRY(const trust::Policy* const policy, this->policy());
  if (trust::check_provenance(*text, *policy)) return std::optional(std::move(entry));
  const trust::Provenance origin = trust::parse_provenance(as_text(*text));
  // It was trusted when it came and is no longer: a key was withdrawn, or trust was `any`.
  Parts parts;
  for (const auto& part : entry.parts())
    if (part.name != trust::kOriginPart) parts.push_back(part);
  auto remade = without_trust(key, parts, origin.from, origin.signatures);
  if (!remade) return std::optional<cache::Entry>();
  const Accepted accepted{std::move(*remade), {}, {}};
  SMELT_TRY_VOID(keep({key}, {accepted}));
  return std::optional(to_entry(accepted.parts));
}

Result<std::optional<cache::Entry>> TieredStore::find(const Digest& key, bool fresh) {
  SMELT_TRY(auto found, find_all({key}, fresh));
  return std::move(found[0]);
}

Result<std::vector<std::optional<cache::Entry>>> TieredStore::find_all(const std::vector<Digest>& keys, bool fresh) {
  std::vector<std::optional<cache::Entry>> entries;
  if (keys.size() == 1) {
    SMELT_TRY(entries.emplace_back(), local_->find(keys[0]));
  } else {
    SMELT_TRY(entries, local_->find_all(keys));
  }
  std::vector<size_t> missing;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (entries[i]) {
      SMELT_TRY(entries[i], check_origin(keys[i], std::move(*entries[i])));
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
    auto accepted = accept(*arrived[m]);
    if (!accepted) continue;
    entries[missing[m]] = to_entry(accepted->parts);
    kept_keys.push_back(wanted[m]);
    kept.push_back(std::move(*accepted));
  }
  // A store that cannot take them costs a later round trip, not this one's result.
  if (auto put = keep(kept_keys, kept); !put) warn_once("keep", put.error().message);
  return entries;
}

Outgoing TieredStore::outgoing(const Digest& key, const Parts& parts, std::chrono::microseconds cost) const {
  Outgoing entry{key, {}, cost, {}, {}};
  std::optional<trust::Provenance> origin;
  for (const auto& part : parts) {
    if (part.name == trust::kOriginPart)
      origin = trust::parse_provenance(as_text(part.bytes));
    else
      entry.parts.push_back({std::string(part.name), to_bytes(part.bytes)});
  }
  if (origin) {  // carried on as it came: others may trust a key that we do not
    entry.made_from = origin->made_from;
    entry.signatures = origin->signatures;
    return entry;
  }
  if (options_.made_from) entry.made_from = options_.made_from(parts);
  if (options_.signing) {
    const std::string text = schema::statement(statement_record(entry));
    entry.signatures.push_back(trust::to_text(trust::sign(*options_.signing, as_bytes(text))));
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
    later.push_back(outgoing(entry.key, parts, entry.cost));
  }
  remotes_->put_later(std::move(later), std::move(hold));
  return {};
}

Result<void> TieredStore::push(const std::vector<Digest>& keys) {
  SMELT_TRY(const auto entries, local_->find_all(keys));
  std::vector<Outgoing> now;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!entries[i])
      return fail(Errc::not_cached, "push: no entry {} in store {}", to_hex(keys[i]), local_->folder().string());
    now.push_back(outgoing(keys[i], entries[i]->parts(), {}));
  }
  return remotes_->put_now(now);
}

Result<void> TieredStore::push(const Digest& key, const std::vector<cache::Entry::Part>& parts) {
  const Outgoing entry = outgoing(key, parts, {});
  return remotes_->put_now(std::span(&entry, 1));
}

Leased TieredStore::lease(const Digest& key, std::chrono::milliseconds timeout) {
  // Whoever holds it puts the entry where we look: at the remotes.
  return remotes_->lease(
      key, timeout, [&](Budget& budget) { return remotes_->find(std::span(&key, 1), true, &budget)[0].has_value(); });
}

}  // namespace smelt::remote
