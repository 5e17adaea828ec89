// Keeping the budget. First entries go (rows only), then packs that are mostly dead: what still lives in them moves to
// the open pack and the file is removed whole. Nothing is cut out of a file that a reader may have mapped.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace smelt::cache {
namespace {

constexpr size_t kEntriesPerTransaction = 64;  // writers queue behind us for a few milliseconds at most
constexpr uint64_t kBytesPerTransaction = uint64_t{2} << 20;

uint64_t half(const Checksum& sum) {
  return load_le<uint64_t>(sum.data());
}

struct Candidate {
  int64_t id;
  Digest key;
  uint64_t size;
  uint64_t worth;  // hours; smaller goes first
};

// What took long to make counts as used more recently: an hour for each 100 ms, three days at most.
uint64_t worth(uint64_t used_hour, uint64_t cost_us) {
  return used_hour + std::min<uint64_t>(cost_us / 100000, 72);
}

Result<std::vector<Candidate>> candidates(StoreState& state) {
  std::lock_guard lock(state.mutex);
  SMELT_TRY_VOID(state.open_database());
  SMELT_TRY(auto rows, state.database.prepare(
                           "SELECT id,key,size,used,cost_us FROM entry WHERE key NOT IN (SELECT key FROM tag)"));
  Index* shared = state.index.load();
  std::vector<Candidate> found;
  for (;;) {
    SMELT_TRY(const bool row, rows.step());
    if (!row) break;
    Candidate candidate{rows.integer(0), {}, static_cast<uint64_t>(rows.integer(2)), 0};
    if (!rows.digest(1, candidate.key)) continue;
    auto used = static_cast<uint64_t>(rows.integer(3));
    if (shared) used = std::max<uint64_t>(used, shared->hour_of(candidate.key));
    candidate.worth = worth(used, static_cast<uint64_t>(rows.integer(4)));
    found.push_back(candidate);
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return std::pair(a.worth, a.id) < std::pair(b.worth, b.id); });
  return found;
}

struct PackRow {
  uint64_t id = 0, bytes = 0, live = 0;
  bool open = false;
};

Result<std::vector<PackRow>> pack_rows(StoreState& state) {
  std::lock_guard lock(state.mutex);
  SMELT_TRY(auto rows, state.database.prepare("SELECT id,bytes,live,state FROM pack"));
  std::vector<PackRow> packs;
  for (;;) {
    SMELT_TRY(const bool row, rows.step());
    if (!row) return packs;
    packs.push_back({static_cast<uint64_t>(rows.integer(0)), static_cast<uint64_t>(rows.integer(1)),
                     static_cast<uint64_t>(std::max<int64_t>(rows.integer(2), 0)), rows.integer(3) == 0});
  }
}

struct Moved {
  Digest key;
  Place place;
};

// Rewrites the record of one entry: with `moved_from`/`moved_to` its part there points to the new place.
Result<void> rewrite_record(StoreState& state, int64_t id, const RecordPart* from, const StoreState::Append* to,
                            std::vector<Moved>& moved) {
  Database& database = state.database;
  Digest key;
  uint64_t pack = 0, at = 0, bytes = 0;
  {
    SMELT_TRY(auto rows, database.prepare("SELECT key,pack,at,bytes FROM entry WHERE id=?1"));
    SMELT_TRY(const bool row, rows.bind(1, id).step());
    if (!row || !rows.digest(0, key)) return {};
    pack = static_cast<uint64_t>(rows.integer(1));
    at = static_cast<uint64_t>(rows.integer(2));
    bytes = static_cast<uint64_t>(rows.integer(3));
  }
  std::shared_ptr<MappedPack> owner;
  const auto old = state.view(pack, at, bytes, owner);
  auto record = old ? decode_record(*old, key) : tl::unexpected(Error{Errc::corrupt, "record is gone", {}});
  if (!record) return state.delete_entry(id, key);  // damaged: absent from now on
  if (from)
    for (RecordPart& part : record->parts)
      if (!part.is_inline && part.pack == from->pack && part.at == from->at) {
        part.pack = to->pack;
        part.at = to->at;
      }
  const Bytes fresh = encode_record(key, *record);
  const Checksum sum = checksum(fresh);
  if (Index* shared = state.index.load()) shared->erase(key);
  SMELT_TRY(const auto place, state.append(fresh));
  {
    SMELT_TRY(auto shrink, database.prepare("UPDATE pack SET live=live-?2 WHERE id=?1"));
    const uint64_t freed = (bytes + kPackAlignment - 1) / kPackAlignment * kPackAlignment;
    SMELT_TRY_VOID(shrink.bind(1, static_cast<int64_t>(pack)).bind(2, static_cast<int64_t>(freed)).run());
  }
  SMELT_TRY(auto update, database.prepare("UPDATE entry SET pack=?2,at=?3,bytes=?4,xxh=?5 WHERE id=?1"));
  update.bind(1, id).bind(2, static_cast<int64_t>(place.pack)).bind(3, static_cast<int64_t>(place.at));
  SMELT_TRY_VOID(update.bind(4, static_cast<int64_t>(fresh.size())).bind(5, ByteView(sum)).run());
  moved.push_back({key, {place.pack, place.at, fresh.size(), half(sum)}});
  return {};
}

// Moves about kBytesPerTransaction of what lives in `pack`. True when nothing is left and the pack's row is gone.
Result<bool> empty_pack_some(StoreState& state, uint64_t pack, std::vector<Moved>& moved) {
  Database& database = state.database;
  uint64_t done = 0;
  while (done < kBytesPerTransaction) {
    RecordPart from;
    int64_t blob = 0;
    {
      SMELT_TRY(auto rows, database.prepare("SELECT id,at,stored,xxh FROM blob WHERE pack=?1 LIMIT 1"));
      SMELT_TRY(const bool row, rows.bind(1, static_cast<int64_t>(pack)).step());
      if (row) {
        blob = rows.integer(0);
        from.pack = pack;
        from.at = static_cast<uint64_t>(rows.integer(1));
        from.stored = static_cast<uint64_t>(rows.integer(2));
        const ByteView sum = rows.blob(3);
        std::copy_n(sum.begin(), std::min(sum.size(), from.sum.size()), from.sum.begin());
      }
    }
    if (blob != 0) {
      std::vector<int64_t> users;
      {
        SMELT_TRY(auto rows, database.prepare("SELECT entry FROM entry_blob WHERE blob=?1"));
        rows.bind(1, blob);
        for (;;) {
          SMELT_TRY(const bool row, rows.step());
          if (!row) break;
          users.push_back(rows.integer(0));
        }
      }
      std::shared_ptr<MappedPack> owner;
      const auto bytes = state.view(pack, from.at, from.stored, owner);
      if (!bytes || checksum(*bytes) != from.sum) {  // damage is not carried along
        for (const int64_t user : users) {
          Digest key;
          {
            SMELT_TRY(auto rows, database.prepare("SELECT key FROM entry WHERE id=?1"));
            SMELT_TRY(const bool row, rows.bind(1, user).step());
            if (!row || !rows.digest(0, key)) continue;
          }
          SMELT_TRY_VOID(state.delete_entry(user, key));
        }
        SMELT_TRY(auto gone, database.prepare("DELETE FROM blob WHERE id=?1"));
        SMELT_TRY_VOID(gone.bind(1, blob).run());
        continue;
      }
      SMELT_TRY(const auto place, state.append(*bytes));
      {
        SMELT_TRY(auto update, database.prepare("UPDATE blob SET pack=?2,at=?3 WHERE id=?1"));
        update.bind(1, blob).bind(2, static_cast<int64_t>(place.pack)).bind(3, static_cast<int64_t>(place.at));
        SMELT_TRY_VOID(update.run());
      }
      for (const int64_t user : users) SMELT_TRY_VOID(rewrite_record(state, user, &from, &place, moved));
      done += from.stored;
      continue;
    }
    int64_t entry = 0;
    {
      SMELT_TRY(auto rows, database.prepare("SELECT id FROM entry WHERE pack=?1 LIMIT 1"));
      SMELT_TRY(const bool row, rows.bind(1, static_cast<int64_t>(pack)).step());
      if (row) entry = rows.integer(0);
    }
    if (entry == 0) {
      SMELT_TRY(auto gone, database.prepare("DELETE FROM pack WHERE id=?1"));
      SMELT_TRY_VOID(gone.bind(1, static_cast<int64_t>(pack)).run());
      return true;
    }
    SMELT_TRY_VOID(rewrite_record(state, entry, nullptr, nullptr, moved));
    done += 512;
  }
  return false;
}

Result<void> empty_pack(StoreState& state, uint64_t pack) {
  for (bool empty = false; !empty;) {
    std::vector<Moved> moved;
    SMELT_TRY_VOID(state.write(
        [&]() -> Result<void> {
          moved.clear();
          SMELT_TRY(empty, empty_pack_some(state, pack, moved));
          return {};
        },
        [&]() -> Result<void> {
          Result<void> indexed;
          for (const Moved& entry : moved)
            // Moving is not using: hour 0 leaves the order to the database's own hour.
            if (indexed = state.insert_index(entry.key, entry.place, 0); !indexed) break;
          if (empty) {
            state.forget_pack(pack);
            state.packs.remove(pack);
          }
          return indexed;
        }));
  }
  return {};
}

}  // namespace

Result<TrimReport> Store::trim(uint64_t max_bytes) {
  StoreState& state = *state_;
  if (state.options.read_only) return fail(Errc::io, "store {}: opened read-only", state.folder.string());
  TrimReport report;
  // A descriptor of its own, so that two threads of one process exclude each other too.
  SMELT_TRY(const int fd, open_lock_file(state.folder));
  struct Closer {
    int fd;
    ~Closer() { ::close(fd); }
  } closer{fd};
  ByteLock trimming(fd, kTrimByte, false);
  if (!trimming.held()) {
    report.busy = true;
    return report;
  }
  const uint64_t budget = max_bytes != 0 ? max_bytes : state.options.max_bytes;
  const uint64_t target = budget - budget / 10;
  const auto totals = [&]() -> Result<std::pair<uint64_t, uint64_t>> {
    SMELT_TRY(const auto packs, pack_rows(state));
    uint64_t bytes = 0, live = 0;
    for (const PackRow& pack : packs) bytes += pack.bytes, live += pack.live;
    return std::pair(bytes, live);
  };
  SMELT_TRY(auto order, candidates(state));
  SMELT_TRY(auto sums, totals());
  report.bytes_before = sums.first;
  size_t next = 0;
  while (budget != 0 && sums.second > target && next < order.size()) {
    uint64_t planned = 0;
    const size_t first = next;
    // Stop at what should suffice; shared blobs may need another round.
    while (next < order.size() && next - first < kEntriesPerTransaction &&
           sums.second - std::min(sums.second, planned) > target)
      planned += order[next++].size + 128;
    SMELT_TRY_VOID(state.write([&]() -> Result<void> {
      for (size_t i = first; i < next; ++i) {
        {
          // Used, tagged or replaced since the list was made: leave it.
          SMELT_TRY(auto rows,
                    state.database.prepare("SELECT 1 FROM entry WHERE id=?1 AND key=?2 AND key NOT IN (SELECT "
                                           "key FROM tag)"));
          SMELT_TRY(const bool row, rows.bind(1, order[i].id).bind(2, order[i].key).step());
          if (!row) continue;
        }
        SMELT_TRY_VOID(state.delete_entry(order[i].id, order[i].key));
        ++report.entries_removed;
      }
      return {};
    }));
    SMELT_TRY(sums, totals());
  }
  state.count(kEvicted, report.entries_removed);
  // Packs without a row: left by a writer that died before its commit, or by a database that was set aside.
  SMELT_TRY_VOID(state.write([&]() -> Result<void> {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(state.folder / "packs", ignored)) {
      const std::string name = entry.path().stem().string();
      uint64_t id = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), id).ec != std::errc{}) continue;
      SMELT_TRY(auto rows, state.database.prepare("SELECT 1 FROM pack WHERE id=?1"));
      SMELT_TRY(const bool row, rows.bind(1, static_cast<int64_t>(id)).step());
      SMELT_TRY(auto any, state.database.prepare("SELECT 1 FROM pack WHERE id>?1 LIMIT 1"));
      SMELT_TRY(const bool newer, any.bind(1, static_cast<int64_t>(id)).step());
      if (!row && newer) state.packs.remove(id);
    }
    return {};
  }));
  for (;;) {
    SMELT_TRY(auto packs, pack_rows(state));
    uint64_t bytes = 0;
    for (const PackRow& pack : packs) bytes += pack.bytes;
    if (budget == 0 || bytes <= target) break;
    std::erase_if(packs, [](const PackRow& pack) { return pack.open || pack.live >= pack.bytes; });
    if (packs.empty()) {
      // All that could be given back lies in the open pack: seal it, so that it can be emptied.
      bool sealed = false;
      SMELT_TRY_VOID(state.write([&]() -> Result<void> {
        SMELT_TRY(auto rows, state.database.prepare("SELECT id FROM pack WHERE state=0 AND live<bytes/2"));
        SMELT_TRY(sealed, rows.step());
        return {};
      }));
      if (!sealed) break;
      SMELT_TRY_VOID(state.write([&]() -> Result<void> {
        SMELT_TRY(auto seal, state.database.prepare("UPDATE pack SET state=1 WHERE state=0"));
        return seal.run();
      }));
      continue;
    }
    const auto deadest = std::min_element(packs.begin(), packs.end(), [](const PackRow& a, const PackRow& b) {
      return std::pair(a.live * b.bytes, a.id) < std::pair(b.live * a.bytes, b.id);
    });
    SMELT_TRY_VOID(empty_pack(state, deadest->id));
  }
  SMELT_TRY(sums, totals());
  report.bytes_after = sums.first;
  return report;
}

}  // namespace smelt::cache
