// Finding: index, else SQLite; then the record, then its blobs, each checked on its first use in this process.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <zstd.h>

#include <algorithm>

namespace smelt::cache {
namespace {

uint64_t half(const Checksum& sum) {
  return load_le<uint64_t>(sum.data());
}

}  // namespace

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

StoreState::Loaded StoreState::load(const Digest& key, const Place& place, Entry& entry, bool force_check) {
  std::shared_ptr<MappedPack> owner;
  const auto bytes = view(place.pack, place.at, place.bytes, owner);
  if (!bytes) return Loaded::gone;
  const bool always = force_check || options.verify == Verify::always;
  const bool check = options.verify != Verify::never;
  if (always || !owner->checked(place.at)) {
    if (half(checksum(*bytes)) != place.check) return Loaded::damaged;
    owner->set_checked(place.at);
  }
  auto record = RecordReader::open(*bytes, key);
  if (!record) return Loaded::damaged;
  entry.parts_.reserve(std::min<size_t>(record->count(), bytes->size() / 16));
  MappedPack* const home = owner.get();
  entry.owner_ = std::move(owner);
  uint64_t total = 0;
  for (unsigned i = 0; i < record->count(); ++i) {
    const auto next = record->next();
    if (!next) return Loaded::damaged;
    const RecordPart& part = *next;
    ByteView value = part.bytes;
    if (!part.is_inline) {
      // Most often the record's own pack, which is at hand already.
      std::shared_ptr<MappedPack> other;
      std::optional<ByteView> stored;
      if (part.pack == place.pack) stored = home->view(part.at, part.stored);
      if (!stored) stored = view(part.pack, part.at, part.stored, other);
      if (!stored) return Loaded::gone;
      MappedPack& holder = other ? *other : *home;
      if (always || (check && !holder.checked(part.at))) {
        if (checksum(*stored) != part.sum) return Loaded::damaged;
        holder.set_checked(part.at);
      }
      value = *stored;
      if (part.codec == kCodecZstd) {
        // The record's checksum vouches for `raw`; still, zstd's own frame header must agree before anything is sized.
        if (ZSTD_getFrameContentSize(stored->data(), stored->size()) != part.raw) return Loaded::damaged;
        auto plain = std::make_shared<Bytes>(part.raw);
        if (ZSTD_decompress(plain->data(), plain->size(), stored->data(), stored->size()) != part.raw)
          return Loaded::damaged;
        value = *plain;
        entry.owners_.push_back(std::move(plain));
      }
      if (other) entry.owners_.push_back(std::move(other));
    }
    total += value.size();
    entry.parts_.push_back({part.name, value});
  }
  count(kBytesRead, total);
  count(kMicrosecondsSaved, record->cost_us());
  return Loaded::ok;
}

Result<std::optional<Place>> StoreState::place_in_database(const Digest& key) {
  std::lock_guard lock(mutex);
  SMELT_TRY_VOID(open_database());
  return place_in_open_database(key);
}

Result<std::optional<Place>> StoreState::place_in_open_database(const Digest& key) {
  SMELT_TRY(auto rows, database.prepare("SELECT pack,at,bytes,xxh FROM entry WHERE key=?1"));
  SMELT_TRY(const bool row, rows.bind(1, key).step());
  if (!row) return std::optional<Place>();
  const ByteView sum = rows.blob(3);
  if (sum.size() != sizeof(Checksum)) return std::optional<Place>();
  return std::optional<Place>(Place{static_cast<uint64_t>(rows.integer(0)), static_cast<uint64_t>(rows.integer(1)),
                                    static_cast<uint64_t>(rows.integer(2)), load_le<uint64_t>(sum.data())});
}

Result<std::optional<Entry>> Store::find(const Digest& key) {
  StoreState& state = *state_;
  if (Index* shared = state.current_index()) {
    if (const auto place = shared->find(key, current_hour())) {
      Entry entry;
      if (state.load(key, *place, entry) == StoreState::Loaded::ok) {
        state.count(kHits);
        return std::optional<Entry>(std::move(entry));
      }
      // Moved by a trim, or damaged: the database knows which.
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
  Entry entry;
  if (state.load(key, *place, entry) == StoreState::Loaded::ok) {
    state.count(kHits);
    return std::optional<Entry>(std::move(entry));
  }
  // A trim may have moved it between the query and the load: look once more before calling it damage.
  SMELT_TRY(const std::optional<Place> again, state.place_in_database(key));
  Entry second;
  if (again && state.load(key, *again, second) == StoreState::Loaded::ok) {
    state.count(kHits);
    return std::optional<Entry>(std::move(second));
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

Result<std::vector<std::optional<Entry>>> Store::find_all(const std::vector<Digest>& keys) {
  StoreState& state = *state_;
  std::vector<std::optional<Entry>> found(keys.size());
  std::vector<size_t> slow;
  Index* shared = state.current_index();
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto place = shared ? shared->find(keys[i], current_hour()) : std::nullopt;
    Entry entry;
    if (place && state.load(keys[i], *place, entry) == StoreState::Loaded::ok) {
      state.count(kHits);
      found[i] = std::move(entry);
    } else {
      slow.push_back(i);
    }
  }
  if (slow.empty()) return found;
  std::vector<std::optional<Place>> places(slow.size());
  {
    std::lock_guard lock(state.mutex);
    SMELT_TRY_VOID(state.open_database());
    SMELT_TRY_VOID(state.database.execute("BEGIN"));
    for (size_t i = 0; i < slow.size(); ++i)
      if (auto place = state.place_in_open_database(keys[slow[i]])) places[i] = *place;
    SMELT_TRY_VOID(state.database.execute("COMMIT"));
  }
  for (size_t i = 0; i < slow.size(); ++i) {
    Entry entry;
    if (places[i] && state.load(keys[slow[i]], *places[i], entry) == StoreState::Loaded::ok) {
      state.count(kHits);
      found[slow[i]] = std::move(entry);
    } else {
      SMELT_TRY(found[slow[i]], find(keys[slow[i]]));  // counts, and tells damage from absence
    }
  }
  return found;
}

Result<void> StoreState::drop_damaged(const Digest& key) {
  return write([&]() -> Result<void> {
    // The blobs of this entry that are no longer what they were, and everything else that uses them.
    std::vector<int64_t> bad;
    {
      SMELT_TRY(auto blobs,
                database.prepare("SELECT b.id,b.pack,b.at,b.stored,b.xxh FROM entry e JOIN entry_blob eb ON "
                                 "eb.entry=e.id JOIN blob b ON b.id=eb.blob WHERE e.key=?1"));
      blobs.bind(1, key);
      for (;;) {
        SMELT_TRY(const bool row, blobs.step());
        if (!row) break;
        std::shared_ptr<MappedPack> owner;
        const auto bytes = view(static_cast<uint64_t>(blobs.integer(1)), static_cast<uint64_t>(blobs.integer(2)),
                                static_cast<uint64_t>(blobs.integer(3)), owner);
        const ByteView sum = blobs.blob(4);
        if (!bytes || sum.size() != sizeof(Checksum)) {
          bad.push_back(blobs.integer(0));
          continue;
        }
        const Checksum now = checksum(*bytes);
        if (!std::equal(now.begin(), now.end(), sum.begin())) bad.push_back(blobs.integer(0));
      }
    }
    std::vector<std::pair<int64_t, Digest>> doomed;
    const auto collect = [&](Statement& rows) -> Result<void> {
      for (;;) {
        SMELT_TRY(const bool row, rows.step());
        if (!row) return {};
        Digest named;
        if (rows.digest(1, named)) doomed.emplace_back(rows.integer(0), named);
      }
    };
    {
      SMELT_TRY(auto self, database.prepare("SELECT id,key FROM entry WHERE key=?1"));
      self.bind(1, key);
      SMELT_TRY_VOID(collect(self));
    }
    for (const int64_t blob : bad) {
      SMELT_TRY(auto users, database.prepare(
                                "SELECT e.id,e.key FROM entry_blob eb JOIN entry e ON e.id=eb.entry WHERE eb.blob=?1"));
      users.bind(1, blob);
      SMELT_TRY_VOID(collect(users));
    }
    std::sort(doomed.begin(), doomed.end());
    doomed.erase(std::unique(doomed.begin(), doomed.end()), doomed.end());
    for (const auto& [id, named] : doomed) SMELT_TRY_VOID(delete_entry(id, named));
    return {};
  });
}

}  // namespace smelt::cache
