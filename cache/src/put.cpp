// Publishing: bytes to the open pack, rows in one transaction, then the index.
//
// Order matters when a process dies in between. A slot of the index that is about to become wrong goes before the
// commit, a new one comes after it: at worst a lookup takes the way through SQLite. Bytes of a transaction that never
// committed lie past the pack's committed length and are overwritten by the next writer.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <zstd.h>

#include <algorithm>

namespace smelt::cache {
namespace {

uint64_t aligned(uint64_t bytes) {
  return (bytes + kPackAlignment - 1) / kPackAlignment * kPackAlignment;
}

uint64_t half(const Checksum& sum) {
  return load_le<uint64_t>(sum.data());
}

// A part ready to be stored: what costs time is done before any lock is taken.
struct ReadyPart {
  std::string_view name;
  ByteView raw;
  bool is_inline = true;
  Bytes compressed;  // empty when stored as it is
  ByteView stored;
  uint8_t codec = kCodecRaw;
  Digest sha;
  Checksum sum{};
};

struct ReadyEntry {
  const Store::Put* put = nullptr;
  std::vector<ReadyPart> parts;
  uint64_t size = 0;
};

Result<ReadyEntry> prepare(const Store::Put& put) {
  ReadyEntry entry;
  entry.put = &put;
  if (put.parts.size() > 65535)
    return fail(Errc::invalid_argument, "store put: {} parts; at most 65535", put.parts.size());
  for (const PartIn& part : put.parts) {
    if (part.name.empty() || part.name.size() > 65535 || part.name.find('\0') != std::string_view::npos)
      return fail(Errc::invalid_argument, "store put: a part's name must have 1 to 65535 characters and no NUL");
    ReadyPart ready;
    ready.name = part.name;
    ready.raw = ready.stored = part.bytes;
    ready.is_inline = part.bytes.size() <= kInlineBytes;
    entry.size += part.bytes.size();
    if (!ready.is_inline) {
      if (part.compress) {
        ready.compressed.resize(ZSTD_compressBound(part.bytes.size()));
        const size_t size =
            ZSTD_compress(ready.compressed.data(), ready.compressed.size(), part.bytes.data(), part.bytes.size(), 3);
        // Not worth a copy at each find unless it saves an eighth.
        if (!ZSTD_isError(size) && size < part.bytes.size() - part.bytes.size() / 8) {
          ready.compressed.resize(size);
          ready.stored = ready.compressed;
          ready.codec = kCodecZstd;
        }
      }
      ready.sha = sha256(part.bytes);
      ready.sum = checksum(ready.stored);
    }
    entry.parts.push_back(std::move(ready));
  }
  std::sort(entry.parts.begin(), entry.parts.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (size_t i = 1; i < entry.parts.size(); ++i)
    if (entry.parts[i].name == entry.parts[i - 1].name)
      return fail(Errc::invalid_argument, "store put: part '{}' is given twice", entry.parts[i].name);
  return entry;
}

}  // namespace

Result<void> StoreState::write(const std::function<Result<void>()>& body, const std::function<Result<void>()>& after) {
  if (options.read_only) return fail(Errc::io, "store {}: opened read-only", folder.string());
  std::lock_guard lock(mutex);
  for (int attempt = 0;; ++attempt) {
    SMELT_TRY_VOID(open_database());
    auto done = [&]() -> Result<void> {
      // A queue before BEGIN IMMEDIATE: SQLite's own busy loop lets some writers starve.
      ByteLock writer(lock_fd, kWriterByte, true);
      if (!writer.held()) return fail(Errc::store_locked, "store {}: cannot take the writer lock", folder.string());
      SMELT_TRY(auto transaction, Transaction::begin(database));
      // From here until the index has followed, a key that it does not have is looked up in the database. Whoever
      // dies or fails in between leaves it so, and the next writer mends it.
      Index* shared = current_index_locked();
      const bool mend = shared && shared->pending();
      if (shared) shared->set_pending(true);
      SMELT_TRY_VOID(body());
      SMELT_TRY_VOID(transaction.commit());
      const auto indexed = mend ? rebuild_index() : after();
      if (!indexed)
        warn("index", indexed.error().message);  // a derived file: that costs speed, not correctness
      else if (Index* current = index.load())
        current->set_pending(false);
      return {};
    }();
    if (done || done.error().code != Errc::store_corrupt || attempt > 0) return done;
    SMELT_TRY_VOID(recover(done.error()));
  }
}

Result<StoreState::Append> StoreState::append(ByteView bytes) {
  const uint64_t need = aligned(bytes.size());
  Append place;
  bool fresh = true;
  {
    SMELT_TRY(auto open, database.prepare("SELECT id,bytes FROM pack WHERE state=0"));
    SMELT_TRY(const bool row, open.step());
    if (row) {
      fresh = false;
      place = {static_cast<uint64_t>(open.integer(0)), static_cast<uint64_t>(open.integer(1))};
    }
  }
  if (!fresh && place.at > 0 && place.at + need > options.segment_bytes) {
    SMELT_TRY(auto seal, database.prepare("UPDATE pack SET state=1 WHERE id=?1"));
    SMELT_TRY_VOID(seal.bind(1, static_cast<int64_t>(place.pack)).run());
    fresh = true;
  }
  if (fresh) {
    // Ids are never used twice: another process may still have an old pack of that number mapped. The newest pack is
    // never removed, so the largest id is always known; files left by a database that was set aside count too.
    SMELT_TRY(auto largest, database.prepare("SELECT coalesce(max(id),0) FROM pack"));
    SMELT_TRY_VOID(largest.step());
    place = {std::max(static_cast<uint64_t>(largest.integer(0)), packs.largest_id()) + 1, 0};
    SMELT_TRY(auto insert, database.prepare("INSERT INTO pack VALUES(?1,0,0,0)"));
    SMELT_TRY_VOID(insert.bind(1, static_cast<int64_t>(place.pack)).run());
  }
  SMELT_TRY_VOID(packs.write(place.pack, place.at, bytes));
  if (options.durable) SMELT_TRY_VOID(packs.sync(place.pack));
  SMELT_TRY(auto grow, database.prepare("UPDATE pack SET bytes=?2,live=live+?3 WHERE id=?1"));
  grow.bind(1, static_cast<int64_t>(place.pack)).bind(2, static_cast<int64_t>(place.at + need));
  SMELT_TRY_VOID(grow.bind(3, static_cast<int64_t>(need)).run());
  count(kBytesWritten, bytes.size());
  return place;
}

Result<void> StoreState::delete_entry(int64_t id, const Digest& key) {
  if (Index* shared = index.load()) shared->erase(key);
  const auto give_back = [&](int64_t pack, int64_t bytes) -> Result<void> {
    SMELT_TRY(auto shrink, database.prepare("UPDATE pack SET live=live-?2 WHERE id=?1"));
    return shrink.bind(1, pack).bind(2, static_cast<int64_t>(aligned(static_cast<uint64_t>(bytes)))).run();
  };
  struct Row {
    int64_t id, pack, stored;
  };
  std::vector<Row> blobs;
  {
    SMELT_TRY(auto rows, database.prepare("SELECT b.id,b.pack,b.stored FROM entry_blob eb JOIN blob b ON b.id=eb.blob "
                                          "WHERE eb.entry=?1"));
    rows.bind(1, id);
    for (;;) {
      SMELT_TRY(const bool row, rows.step());
      if (!row) break;
      blobs.push_back({rows.integer(0), rows.integer(1), rows.integer(2)});
    }
  }
  {
    SMELT_TRY(auto links, database.prepare("DELETE FROM entry_blob WHERE entry=?1"));
    SMELT_TRY_VOID(links.bind(1, id).run());
  }
  for (const Row& blob : blobs) {
    {
      SMELT_TRY(auto users, database.prepare("SELECT 1 FROM entry_blob WHERE blob=?1 LIMIT 1"));
      SMELT_TRY(const bool used, users.bind(1, blob.id).step());
      if (used) continue;
    }
    SMELT_TRY(auto gone, database.prepare("DELETE FROM blob WHERE id=?1"));
    SMELT_TRY_VOID(gone.bind(1, blob.id).run());
    SMELT_TRY_VOID(give_back(blob.pack, blob.stored));
  }
  Row record{id, 0, 0};
  {
    SMELT_TRY(auto rows, database.prepare("SELECT pack,bytes FROM entry WHERE id=?1"));
    SMELT_TRY(const bool row, rows.bind(1, id).step());
    if (!row) return {};
    record = {id, rows.integer(0), rows.integer(1)};
  }
  SMELT_TRY_VOID(give_back(record.pack, record.stored));
  SMELT_TRY(auto gone, database.prepare("DELETE FROM entry WHERE id=?1"));
  return gone.bind(1, id).run();
}

Result<void> StoreState::insert_index(const Digest& key, const Place& place, uint32_t hour) {
  Index* shared = index.load();
  if (!shared || shared->superseded()) {
    SMELT_TRY_VOID(rebuild_index());  // takes the table that superseded it, if there is one
    shared = index.load();
  }
  if (const auto there = shared->find(key, hour); there && there->pack == place.pack && there->at == place.at)
    return {};
  if (shared->insert(key, place, hour)) return {};
  return rebuild_index();  // from the rows, so the new entry is in it
}

Result<void> StoreState::rebuild_index() {
  if (options.read_only) return {};
  // Another process may have made one while we waited for the lock.
  if (auto opened = Index::open(folder / "index", true);
      opened && opened->store_id() == store_id && (!index.load() || index.load()->superseded())) {
    index = opened.get();
    indexes.push_back(std::move(opened));
    return {};
  }
  SMELT_TRY(auto total, database.prepare("SELECT count(*) FROM entry"));
  SMELT_TRY_VOID(total.step());
  const auto outdated = Index::open_outdated(folder / "index");
  SMELT_TRY(auto fresh, Index::create(folder / "index", store_id,
                                      std::max<uint64_t>(static_cast<uint64_t>(total.integer(0)) * 2, 4096), *files));
  Index* old = index.load();
  SMELT_TRY(auto rows, database.prepare("SELECT key,pack,at,bytes,xxh,used FROM entry"));
  struct Row {
    Digest key;
    Place place;
    uint32_t hour;
  };
  std::vector<Row> all;
  for (;;) {
    SMELT_TRY(const bool row, rows.step());
    if (!row) break;
    Row one;
    const ByteView sum = rows.blob(4);
    if (!rows.digest(0, one.key) || sum.size() != sizeof(Checksum)) continue;
    one.place = {static_cast<uint64_t>(rows.integer(1)), static_cast<uint64_t>(rows.integer(2)),
                 static_cast<uint64_t>(rows.integer(3)), load_le<uint64_t>(sum.data())};
    one.hour = std::max(static_cast<uint32_t>(rows.integer(5)), old ? old->hour_of(one.key) : 0);
    all.push_back(one);
  }
  std::sort(all.begin(), all.end(), [](const Row& a, const Row& b) {
    return a.place.pack != b.place.pack ? a.place.pack < b.place.pack : a.place.at < b.place.at;
  });
  // What lies between two records was written with the second one, or is dead and the reading ahead a little too long.
  constexpr uint64_t kMostLead = uint64_t{1} << 20;
  uint64_t pack = 0, end = 0;
  for (Row& one : all) {
    if (one.place.pack != pack) end = 0;
    pack = one.place.pack;
    if (one.place.at - end <= kMostLead) one.place.lead = one.place.at - end;
    end = aligned(one.place.at + one.place.bytes);
    fresh->insert(one.key, one.place, one.hour);
  }
  if (old) {
    fresh->add_counters(old->counters());
    old->supersede();
  }
  if (outdated) outdated->supersede();
  fresh->set_pending(false);
  index = fresh.get();
  indexes.push_back(std::move(fresh));
  return {};
}

Result<uint64_t> StoreState::total_pack_bytes() {
  SMELT_TRY(auto total, database.prepare("SELECT coalesce(sum(bytes),0) FROM pack"));
  SMELT_TRY_VOID(total.step());
  return static_cast<uint64_t>(total.integer(0));
}

Result<void> Store::put(const Digest& key, const std::vector<PartIn>& parts, std::chrono::microseconds cost) {
  return put_all({Put{key, parts, cost}});
}

Result<void> Store::put_all(const std::vector<Put>& entries) {
  StoreState& state = *state_;
  Database& database = state.database;
  std::vector<ReadyEntry> ready;
  for (const Put& put : entries) {
    SMELT_TRY(auto entry, prepare(put));
    ready.push_back(std::move(entry));
  }
  struct Published {
    Digest key;
    Place place;
  };
  std::vector<Published> published;
  size_t added = 0;
  bool over_budget = false;
  const auto put_one = [&](const ReadyEntry& entry) -> Result<void> {
    const Digest& key = entry.put->key;
    Record record;
    record.cost_us = static_cast<uint64_t>(std::max<int64_t>(entry.put->cost.count(), 0));
    std::vector<int64_t> blobs;
    std::optional<StoreState::Append> first;  // of what is written for this entry
    for (const ReadyPart& part : entry.parts) {
      RecordPart stored;
      stored.name = part.name;
      stored.is_inline = part.is_inline;
      if (part.is_inline) {
        stored.bytes = part.raw;
        record.parts.push_back(stored);
        continue;
      }
      int64_t id = 0;
      {
        SMELT_TRY(auto same, database.prepare("SELECT id,pack,at,stored,raw,codec,xxh FROM blob WHERE sha256=?1"));
        SMELT_TRY(const bool row, same.bind(1, part.sha).step());
        if (row) {
          id = same.integer(0);
          stored.pack = static_cast<uint64_t>(same.integer(1));
          stored.at = static_cast<uint64_t>(same.integer(2));
          stored.stored = static_cast<uint64_t>(same.integer(3));
          stored.raw = static_cast<uint64_t>(same.integer(4));
          stored.codec = static_cast<uint8_t>(same.integer(5));
          const ByteView sum = same.blob(6);
          std::copy_n(sum.begin(), std::min(sum.size(), stored.sum.size()), stored.sum.begin());
        }
      }
      if (id == 0) {
        SMELT_TRY(const auto place, state.append(part.stored));
        if (!first || first->pack != place.pack) first = place;
        stored.pack = place.pack;
        stored.at = place.at;
        stored.stored = part.stored.size();
        stored.raw = part.raw.size();
        stored.codec = part.codec;
        stored.sum = part.sum;
        SMELT_TRY(auto insert, database.prepare("INSERT INTO blob(sha256,pack,at,stored,raw,codec,xxh) "
                                                "VALUES(?1,?2,?3,?4,?5,?6,?7)"));
        insert.bind(1, part.sha).bind(2, static_cast<int64_t>(stored.pack)).bind(3, static_cast<int64_t>(stored.at));
        insert.bind(4, static_cast<int64_t>(stored.stored)).bind(5, static_cast<int64_t>(stored.raw));
        SMELT_TRY_VOID(insert.bind(6, int64_t{stored.codec}).bind(7, ByteView(stored.sum)).run());
        id = database.last_row();
      }
      blobs.push_back(id);
      record.parts.push_back(stored);
    }
    const Bytes bytes = encode_record(key, record);
    const Checksum sum = checksum(bytes);
    const uint32_t hour = current_hour();
    int64_t existing = 0;
    {
      SMELT_TRY(auto same, database.prepare("SELECT id,xxh,pack,at,bytes FROM entry WHERE key=?1"));
      SMELT_TRY(const bool row, same.bind(1, key).step());
      if (row) {
        existing = same.integer(0);
        const ByteView old = same.blob(1);
        if (std::equal(old.begin(), old.end(), sum.begin(), sum.end())) {
          // The same entry, published before. Whoever makes it again did not find it: see that the index has it.
          published.push_back({key,
                               {static_cast<uint64_t>(same.integer(2)), static_cast<uint64_t>(same.integer(3)),
                                static_cast<uint64_t>(same.integer(4)), half(sum)}});
          return {};
        }
      }
    }
    SMELT_TRY(const auto place, state.append(bytes));
    SMELT_TRY(auto insert, database.prepare("INSERT INTO entry(key,pack,at,bytes,xxh,size,created,used,cost_us) "
                                            "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)"));
    // The old entry goes only now, after its blobs have found new users; then the key is free.
    if (existing != 0) {
      Bytes parked(key.bytes.begin(), key.bytes.end());
      parked.push_back(std::byte{0});  // no real key has 33 bytes
      SMELT_TRY(auto detach, database.prepare("UPDATE entry SET key=?2 WHERE id=?1"));
      SMELT_TRY_VOID(detach.bind(1, existing).bind(2, ByteView(parked)).run());
    }
    insert.bind(1, key).bind(2, static_cast<int64_t>(place.pack)).bind(3, static_cast<int64_t>(place.at));
    insert.bind(4, static_cast<int64_t>(bytes.size())).bind(5, ByteView(sum)).bind(6, static_cast<int64_t>(entry.size));
    insert.bind(7, static_cast<int64_t>(::time(nullptr))).bind(8, int64_t{hour});
    SMELT_TRY_VOID(insert.bind(9, static_cast<int64_t>(record.cost_us)).run());
    const int64_t id = database.last_row();
    for (const int64_t blob : blobs) {
      SMELT_TRY(auto link, database.prepare("INSERT OR IGNORE INTO entry_blob VALUES(?1,?2)"));
      SMELT_TRY_VOID(link.bind(1, id).bind(2, blob).run());
    }
    if (existing != 0) SMELT_TRY_VOID(state.delete_entry(existing, key));
    const uint64_t lead = first && first->pack == place.pack ? place.at - first->at : 0;
    published.push_back({key, {place.pack, place.at, bytes.size(), half(sum), lead}});
    ++added;
    return {};
  };
  SMELT_TRY_VOID(state.write(
      [&]() -> Result<void> {
        published.clear();
        added = 0;
        for (const ReadyEntry& entry : ready) SMELT_TRY_VOID(put_one(entry));
        if (state.options.max_bytes != 0) {
          SMELT_TRY(const uint64_t total, state.total_pack_bytes());
          over_budget = total > state.options.max_bytes;
        }
        return {};
      },
      [&]() -> Result<void> {
        for (const Published& entry : published)
          SMELT_TRY_VOID(state.insert_index(entry.key, entry.place, current_hour()));
        return {};
      }));
  state.count(kPuts, added);
  if (over_budget) {
    // The entry is in; that the store could not shrink now is the next put's business too.
    if (auto trimmed = trim(); !trimmed) {
      std::lock_guard lock(state.mutex);
      state.warn("trim", trimmed.error().message);
    }
  }
  return {};
}

Result<bool> Store::remove(const Digest& key) {
  StoreState& state = *state_;
  bool removed = false;
  SMELT_TRY_VOID(state.write([&]() -> Result<void> {
    int64_t id = 0;
    {
      SMELT_TRY(auto rows, state.database.prepare("SELECT id FROM entry WHERE key=?1"));
      SMELT_TRY(removed, rows.bind(1, key).step());
      if (!removed) return {};
      id = rows.integer(0);
    }
    return state.delete_entry(id, key);
  }));
  return removed;
}

}  // namespace smelt::cache
