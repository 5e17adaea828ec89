// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding: index, else SQLite; then the record, then its blobs, each checked on its first use in this process.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <zstd.h>

#include <algorithm>

namespace smelt::cache {
std::optional<ByteView> StoreState::view(uint64_t pack, uint64_t at, uint64_t bytes,
                                         std::shared_ptr<MappedPack>& owner) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    owner = packs.find(pack);
    if (!owner) return std::nullopt;
    if (auto view = owner->view(at, bytes)) return view;
    packs.forget(pack);  // mapped when it was smaller than another process lets it grow
  }
  return std::nullopt;
}

StoreState::Loaded StoreState::read(const Digest& key, const Place& place, EntryData& data, bool check_again,
                                    const std::shared_ptr<BulkRead>& bulk) {
  struct Piece {
    ByteView bytes;
    std::shared_ptr<MappedPack> mapped;  // null: copied by the bulk
  };
  const auto piece = [&](uint64_t pack, uint64_t at, uint64_t bytes) -> std::optional<Piece> {
    if (bulk)
      if (const auto copied = bulk->view(pack, at, bytes)) return Piece{*copied, nullptr};
    Piece found;
    const auto mapped = view(pack, at, bytes, found.mapped);
    if (!mapped) return std::nullopt;
    found.bytes = *mapped;
    return found;
  };
  bool of_bulk = false;
  const auto keep = [&](Piece& used) {
    if (!used.mapped) {
      if (!of_bulk) data.owners.push_back(bulk);
      of_bulk = true;
      return;
    }
    for (const auto& owner : data.owners)
      if (owner == used.mapped) return;
    data.owners.push_back(std::move(used.mapped));
  };
  auto home = piece(place.pack, place.at, place.bytes);
  if (!home) return Loaded::gone;
  if (check_again || !home->mapped || !home->mapped->checked(place.at)) {
    if (half(checksum(home->bytes)) != place.check) return Loaded::damaged;
    if (home->mapped) home->mapped->set_checked(place.at);
  }
  const auto record = decode_record(home->bytes, key);
  if (!record) return Loaded::damaged;
  keep(*home);
  data.parts.reserve(record->parts.size());
  for (const RecordPart& part : record->parts) {
    ByteView value = part.bytes;
    if (!part.is_inline) {
      auto stored = piece(part.pack, part.at, part.stored);
      if (!stored) return Loaded::gone;
      if (check_again || (options.verify != Verify::never && (!stored->mapped || !stored->mapped->checked(part.at)))) {
        if (checksum(stored->bytes) != part.sum) return Loaded::damaged;
        if (stored->mapped) stored->mapped->set_checked(part.at);
      }
      data.checks.push_back({stored->bytes, part.sum});
      value = stored->bytes;
      if (part.codec == kCodecZstd) {
        // The record's checksum vouches for `raw`; still, zstd's own frame header must agree before anything is sized.
        if (ZSTD_getFrameContentSize(value.data(), value.size()) != part.raw) return Loaded::damaged;
        auto plain = std::make_shared<Bytes>(part.raw);
        if (ZSTD_decompress(plain->data(), plain->size(), value.data(), value.size()) != part.raw)
          return Loaded::damaged;
        value = *plain;
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

/// Packs are far below 2^40 bytes, values lie on multiples of 64.
uint64_t seen_key(const Place& place) {
  return place.pack << 34 | place.at / kPackAlignment;
}

}  // namespace

std::shared_ptr<const EntryData> StoreState::seen_at(const Place& place) {
  std::shared_lock lock(seen_mutex);
  const auto found = seen.find(seen_key(place));
  // Another check: the folder was replaced, and what a find read before that came late.
  return found == seen.end() || found->second->check != place.check ? nullptr : found->second;
}

void StoreState::remember(const Place& place, std::shared_ptr<const EntryData> data) {
  std::unique_lock lock(seen_mutex);
  if (seen.size() >= kSeenEntries) seen.clear();
  seen.insert_or_assign(seen_key(place), std::move(data));
}

StoreState::Loaded StoreState::load(const Digest& key, const Place& place, std::optional<Entry>& entry,
                                    const std::shared_ptr<BulkRead>& bulk) {
  std::shared_ptr<const EntryData> data = seen_at(place);
  if (data) {
    if (options.verify == Verify::always)
      for (const EntryData::Check& check : data->checks)
        if (checksum(check.stored) != check.sum) {
          forget_pack(place.pack);
          return Loaded::damaged;
        }
  } else {
    auto fresh = std::make_shared<EntryData>();
    fresh->check = place.check;
    if (const Loaded loaded = read(key, place, *fresh, false, bulk); loaded != Loaded::ok) return loaded;
    data = std::move(fresh);
    if (!bulk) remember(place, data);  // a bulk's memory is its users', and goes with them
  }
  count(kBytesRead, data->bytes);
  count(kMicrosecondsSaved, data->cost_us);
  entry = Entry(std::move(data));
  return Loaded::ok;
}

void StoreState::forget_pack(uint64_t pack) {
  // The table keeps mappings alive, and so the disk space of removed packs.
  std::unique_lock lock(seen_mutex);
  std::erase_if(seen, [&](const auto& entry) { return entry.first >> 34 == pack; });
}

Result<std::optional<Place>> StoreState::place_in_database(const Digest& key) {
  std::lock_guard lock(mutex);
  SMELT_TRY_VOID(open_database());
  return tables.entry.place_of(key);
}

Result<std::optional<Entry>> Store::find(const Digest& key) {
  StoreState& state = *state_;
  if (Index* shared = state.current_index()) {
    if (const auto place = shared->find(key, current_hour())) {
      std::optional<Entry> entry;
      if (state.load(key, *place, entry) == StoreState::Loaded::ok) {
        state.count(kHits);
        return entry;
      }
      // Moved by a trim, or damaged: the database knows which.
    } else if (shared->complete() && !state.ground_changed()) {
      state.count(kMisses);
      return std::optional<Entry>();
    }
  }
  auto looked = state.place_in_database(key);
  if (!looked && looked.error().code == Errc::store_corrupt && !state.options.read_only) {
    std::lock_guard lock(state.mutex);
    SMELT_TRY_VOID(state.recover(looked.error()));
    looked = std::optional<Place>();
  }
  SMELT_TRY(const std::optional<Place> place, std::move(looked));
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
  if (read(key, place, *data, true) != Loaded::ok) return std::nullopt;
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
    indexed[i] = shared ? shared->find(keys[i], current_hour()) : std::nullopt;
    known_absent[i] = shared && !indexed[i] && shared->complete();
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
  std::vector<std::optional<Place>> places(slow.size());
  {
    std::lock_guard lock(state.mutex);
    SMELT_TRY_VOID(state.open_database());
    SMELT_TRY(auto transaction, Transaction::begin(state.database, Transaction::Kind::read));
    for (size_t i = 0; i < slow.size(); ++i)
      if (auto place = state.tables.entry.place_of(keys[slow[i]])) places[i] = *place;
    SMELT_TRY_VOID(transaction.commit());
  }
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

Result<uint64_t> StoreState::drop_damaged(const Digest& key) {
  uint64_t dropped = 0;
  SMELT_TRY_VOID(write([&]() -> Result<void> {
    dropped = 0;  // the transaction may be tried again
    SMELT_TRY(const auto entry, tables.entry.find(key));
    if (!entry) return {};
    SMELT_TRY(const auto blobs, tables.blob.of_entry(entry->id));
    for (const BlobRow& blob : blobs) {
      std::shared_ptr<MappedPack> owner;
      const auto bytes = view(blob.pack, blob.at, blob.stored, owner);
      if (bytes && checksum(*bytes) == blob.sum) continue;
      SMELT_TRY(const auto users, tables.entry.users_of(blob.id));
      for (const EntryRow& user : users) {
        if (user.id == entry->id) continue;
        SMELT_TRY_VOID(delete_entry(user));
        ++dropped;
      }
    }
    ++dropped;
    return delete_entry(*entry);
  }));
  return dropped;
}

}  // namespace smelt::cache
