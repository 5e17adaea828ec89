// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding: index, else SQLite; then the record, then its blobs, each checked on its first use in this process.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <zstd.h>

#include <algorithm>

namespace smelt::cache {
namespace {

constexpr std::chrono::milliseconds kFillAtFind{5};
constexpr uint64_t kMostAhead = uint64_t{256} << 10;  // blobs before a record are read together with it

}  // namespace

StoreState::Loaded StoreState::read(const Digest& key, const Place& place, EntryData& data,
                                    const std::shared_ptr<BulkRead>& bulk) {
  struct Piece {
    std::shared_ptr<const void> owner;
    ByteView bytes;
  };
  // Blobs that were written with the record lie before it: one read brings all of a small entry.
  std::optional<Copied> ahead;
  uint64_t ahead_at = place.at;
  const auto piece = [&](uint64_t pack, uint64_t at, uint64_t bytes) -> std::optional<Piece> {
    if (bulk)
      if (const auto copied = bulk->view(pack, at, bytes)) return Piece{bulk, *copied};
    if (ahead && pack == place.pack && at >= ahead_at && at - ahead_at <= ahead->bytes.size() &&
        bytes <= ahead->bytes.size() - (at - ahead_at))
      return Piece{ahead->owner, ahead->bytes.subspan(at - ahead_at, bytes)};
    auto copied = packs.copy(pack, at, bytes);
    if (!copied) return std::nullopt;
    data.held += bytes;
    return Piece{std::move(copied->owner), copied->bytes};
  };
  const auto keep = [&](Piece& used) {
    for (const auto& owner : data.owners)
      if (owner == used.owner) return;
    data.owners.push_back(std::move(used.owner));
  };
  if (!bulk && place.lead <= std::min(kMostAhead, place.at)) {
    ahead_at -= place.lead;
    ahead = packs.copy(place.pack, ahead_at, place.lead + place.bytes);
    if (ahead) data.held += ahead->bytes.size();
  }
  auto home = piece(place.pack, place.at, place.bytes);
  if (!home) return Loaded::gone;
  if (half(checksum(home->bytes)) != place.check) return Loaded::damaged;
  const auto record = decode_record(home->bytes, key);
  if (!record) return Loaded::damaged;
  keep(*home);
  data.parts.reserve(record->parts.size());
  for (const RecordPart& part : record->parts) {
    ByteView value = part.bytes;
    if (!part.is_inline) {
      auto stored = piece(part.pack, part.at, part.stored);
      if (!stored) return Loaded::gone;
      if (options.verify != Verify::never && checksum(stored->bytes) != part.sum) return Loaded::damaged;
      data.checks.push_back({stored->bytes, part.sum});
      value = stored->bytes;
      if (part.codec == kCodecZstd) {
        // The record's checksum vouches for `raw`; still, zstd's own frame header must agree before anything is sized.
        if (ZSTD_getFrameContentSize(value.data(), value.size()) != part.raw) return Loaded::damaged;
        auto plain = std::make_shared<Bytes>(part.raw);
        if (ZSTD_decompress(plain->data(), plain->size(), value.data(), value.size()) != part.raw)
          return Loaded::damaged;
        value = *plain;
        data.held += part.raw;
        data.owners.push_back(std::move(plain));
      } else {
        keep(*stored);
      }
    }
    if (part.name == signing::kOriginPart) {
      data.origin = signing::Provenance::parse(as_text(value));
      continue;
    }
    data.bytes += value.size();
    data.parts.push_back({part.name, value});
  }
  data.cost_us = record->cost_us;
  return Loaded::ok;
}

namespace {

constexpr size_t kSeenEntries = 65536;
constexpr uint64_t kKeptBytes = uint64_t{64} << 20;  // of a process's memory, for entries that nobody holds

/// Packs are far below 2^40 bytes, values lie on multiples of 64.
uint64_t seen_key(const Place& place) {
  return place.pack << 34 | place.at / kPackAlignment;
}

}  // namespace

std::shared_ptr<const EntryData> StoreState::seen_at(const Place& place) {
  std::shared_lock lock(seen_mutex);
  const auto found = seen.find(seen_key(place));
  if (found == seen.end()) return nullptr;
  auto data = found->second.lock();
  // Another check: the folder was replaced, and what a find read before that came late.
  return data && data->check == place.check ? data : nullptr;
}

void StoreState::remember(const Place& place, std::shared_ptr<const EntryData> data) {
  std::unique_lock lock(seen_mutex);
  if (seen.size() >= kSeenEntries) std::erase_if(seen, [](const auto& entry) { return entry.second.expired(); });
  if (seen.size() >= kSeenEntries) seen.clear();
  seen.insert_or_assign(seen_key(place), data);
  newest_seen_bytes += data->held;
  newest_seen.push_back(std::move(data));
  for (; newest_seen_bytes > kKeptBytes; newest_seen.pop_front()) newest_seen_bytes -= newest_seen.front()->held;
}

void StoreState::forget_seen() {
  std::unique_lock lock(seen_mutex);
  seen.clear();
  newest_seen.clear();
  newest_seen_bytes = 0;
}

StoreState::Loaded StoreState::load(const Digest& key, const Place& place, std::optional<Entry>& entry,
                                    const std::shared_ptr<BulkRead>& bulk) {
  std::shared_ptr<const EntryData> data = seen_at(place);
  if (data) {
    if (options.verify == Verify::always)
      for (const EntryData::Check& check : data->checks)
        if (checksum(check.stored) != check.sum) {
          forget_seen();
          return Loaded::damaged;
        }
  } else {
    auto fresh = std::make_shared<EntryData>();
    fresh->check = place.check;
    if (const Loaded loaded = read(key, place, *fresh, bulk); loaded != Loaded::ok) return loaded;
    data = std::move(fresh);
    if (!bulk) remember(place, data);  // a bulk's memory is its users', and goes with them
  }
  count(kBytesRead, data->bytes);
  count(kMicrosecondsSaved, data->cost_us);
  entry = Entry(std::move(data));
  return Loaded::ok;
}

Result<std::optional<Place>> StoreState::place_in_database(const Digest& key) {
  return ask<std::optional<Place>>([&] { return tables.entry.place_of(key); });
}

Result<std::optional<Entry>> Store::find(const Digest& key) {
  StoreState& state = *state_;
  if (Index* shared = state.current_index()) {
    const Index::Found found = shared->find(key, current_hour());
    if (found.place) {
      std::optional<Entry> entry;
      if (state.load(key, *found.place, entry) == StoreState::Loaded::ok) {
        state.count(kHits);
        return entry;
      }
      // Moved by a trim, or damaged: the database knows which.
    } else if (found.absent && !state.ground_changed()) {
      state.count(kMisses);
      return std::optional<Entry>();
    }
  }
  state.go_on_filling(kFillAtFind);
  SMELT_TRY(const std::optional<Place> place, state.place_in_database(key));
  if (!place) {
    state.count(kMisses);
    return std::optional<Entry>();
  }
  std::optional<Entry> entry;
  if (state.load(key, *place, entry) == StoreState::Loaded::ok) {
    state.count(kHits);
    return entry;
  }
  // A trim may have moved it between the query and the load: look once more before calling it damage.
  SMELT_TRY(const std::optional<Place> again, state.place_in_database(key));
  std::optional<Entry> second;
  if (again && state.load(key, *again, second) == StoreState::Loaded::ok) {
    state.count(kHits);
    return second;
  }
  state.count(kDamaged);
  state.count(kMisses);
  if (!state.options.read_only) {
    // Losing the race to drop it, or a full disk, changes nothing for the caller: it is absent.
    if (auto dropped = state.drop_damaged(key); !dropped) {
      std::lock_guard lock(state.mutex);
      state.warn("drop", dropped.error().message);
    }
  }
  return std::optional<Entry>();
}

std::optional<Entry> StoreState::look(const Digest& key, const Place& place) {
  auto data = std::make_shared<EntryData>();
  if (read(key, place, *data) != Loaded::ok) return std::nullopt;
  return Entry(std::move(data));
}

Result<std::optional<Entry>> Store::peek(const Digest& key) {
  StoreState& state = *state_;
  // Twice: a trim may move it between the query and the reading.
  for (int attempt = 0; attempt < 2; ++attempt) {
    SMELT_TRY(const std::optional<Place> place, state.place_in_database(key));
    if (!place) return std::optional<Entry>();
    if (auto entry = state.look(key, *place)) return entry;
  }
  return fail(Errc::store_corrupt, "entry {} of store {} is damaged; 'smelt store verify --drop' drops it", to_hex(key),
              state.folder.string());
}

bool Store::indexed(const Digest& key) {
  Index* shared = state_->current_index();
  return shared && shared->has(key);
}

Result<std::vector<std::optional<Entry>>> Store::find_all(const std::vector<Digest>& keys) {
  StoreState& state = *state_;
  std::vector<std::optional<Entry>> found(keys.size());
  std::vector<size_t> slow;
  state.ground_changed();
  Index* shared = state.current_index();
  std::vector<std::optional<Place>> indexed(keys.size());
  std::vector<char> known_absent(keys.size());
  std::vector<Place> unseen;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Index::Found known = shared ? shared->find(keys[i], current_hour()) : Index::Found();
    indexed[i] = known.place;
    known_absent[i] = known.absent;
    if (indexed[i] && !state.seen_at(*indexed[i])) unseen.push_back(*indexed[i]);
  }
  const std::shared_ptr<BulkRead> bulk = BulkRead::read(state.packs, unseen);
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto& place = indexed[i];
    std::optional<Entry> entry;
    if (place && state.load(keys[i], *place, entry, bulk) == StoreState::Loaded::ok) {
      state.count(kHits);
      found[i] = std::move(entry);
    } else if (!place && known_absent[i]) {
      state.count(kMisses);
    } else {
      slow.push_back(i);
    }
  }
  if (slow.empty()) return found;
  state.go_on_filling(kFillAtFind);
  std::vector<std::optional<Place>> places(slow.size());
  SMELT_TRY_VOID(state.ask<void>([&]() -> Result<void> {
    SMELT_TRY(auto transaction, Transaction::begin(state.database, Transaction::Kind::read));
    for (size_t i = 0; i < slow.size(); ++i) {
      SMELT_TRY(places[i], state.tables.entry.place_of(keys[slow[i]]));
    }
    return transaction.commit();
  }));
  for (size_t i = 0; i < slow.size(); ++i) {
    std::optional<Entry> entry;
    if (places[i] && state.load(keys[slow[i]], *places[i], entry) == StoreState::Loaded::ok) {
      state.count(kHits);
      found[slow[i]] = std::move(entry);
    } else {
      SMELT_TRY(found[slow[i]], find(keys[slow[i]]));  // counts, and tells damage from absence
    }
  }
  return found;
}

Result<uint64_t> StoreState::drop_damaged(const BlobRow& blob, int64_t but) {
  uint64_t dropped = 0;
  SMELT_TRY(const auto users, tables.entry.users_of(blob.id));
  for (const EntryRow& user : users) {
    if (user.id == but) continue;
    SMELT_TRY_VOID(delete_entry(user));
    ++dropped;
  }
  if (users.empty()) SMELT_TRY_VOID(drop_unused({blob}));
  return dropped;
}

Result<uint64_t> StoreState::drop_damaged(const Digest& key) {
  uint64_t dropped = 0;
  SMELT_TRY_VOID(write([&]() -> Result<void> {
    dropped = 0;  // the transaction may be tried again
    SMELT_TRY(const auto entry, tables.entry.find(key));
    if (!entry) return {};
    SMELT_TRY(const auto blobs, tables.blob.of_entry(entry->id));
    for (const BlobRow& blob : blobs) {
      if (packs.copy_whole(blob.pack, blob.at, blob.stored, blob.sum)) continue;
      SMELT_TRY(const uint64_t users, drop_damaged(blob, entry->id));
      dropped += users;
    }
    ++dropped;
    return delete_entry(*entry);
  }));
  return dropped;
}

}  // namespace smelt::cache
