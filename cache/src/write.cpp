// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Changing a store: one transaction at a time, bytes to the open pack, rows to the tables, then the index.
//
// Order matters when a process dies in between. A slot of the index that is about to become wrong goes before the
// commit, a new one comes after it: at worst a lookup takes the way through SQLite. Bytes of a transaction that never
// committed are dead space of the pack; the next writer appends behind them.
#include "store_state.hpp"

#include <utility>

namespace smelt::cache {
namespace {

// What one transaction carries over from the index. A put pays 0.2 ms for it, a few times an hour; who closes has time.
constexpr size_t kSlotsInPassing = 4096, kUsesInPassing = 64;
constexpr size_t kSlotsAtClose = 65536, kUsesAtClose = 2000;

}  // namespace

Result<void> StoreState::write(const std::function<Result<void>()>& body, const std::function<Result<void>()>& after) {
  if (options.read_only) return fail(Errc::io, "store {}: opened read-only", folder.string());
  std::lock_guard lock(mutex);
  bool recovered = false;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto done = [&]() -> Result<void> {
      SMELT_TRY_VOID(open_database());
      // A queue before BEGIN IMMEDIATE: SQLite's own busy loop lets some writers starve.
      WriterLock writer(lock_fd, writer_wait);
      if (!writer.held()) return writer_is_stuck();
      SMELT_TRY(auto transaction, Transaction::begin(database));
      // From here until the index has followed, a key that it does not have is looked up in the database. Whoever
      // dies or fails in between leaves it so, and the next writer mends it.
      current_index_locked();
      if (auto mended = mend_index(); !mended) return mended;
      Index* shared = index.load();
      if (shared) shared->set_pending(true);
      tail.reset();
      lost.clear();
      if (auto put = body(); !put) {
        // Else a full disk stays full of what was never published.
        if (tail && tail->bytes > tail->from) packs.cut(tail->pack, tail->from);
        return put;
      }
      SMELT_TRY_VOID(keep_tail());
      SMELT_TRY(const auto saved, save_uses(kSlotsInPassing, kUsesInPassing));
      SMELT_TRY_VOID(transaction.commit());
      // Never seen when it fails or is not reached: the mark counts only where the database is lost.
      for (const Lost& record : lost) (void)packs.write(record.pack, record.at, as_bytes(kDeadMagic));
      if (shared) shared->set_saved(saved);
      const auto indexed = after();
      if (!indexed)
        warn("index", indexed.error().message);  // a derived file: that costs speed, not correctness
      else if (Index* current = index.load())
        current->set_pending(false);
      return {};
    }();
    // What was written to a folder that was replaced meanwhile goes to the one that is there now.
    if (moved()) {
      if (!done && attempt + 1 == kAttempts) return done;
      continue;
    }
    if (done || done.error().code != Errc::store_corrupt || recovered) return done;
    recovered = true;
    SMELT_TRY_VOID(recover(done.error()));
  }
  return fail(Errc::io, "store {}: was replaced or deleted {} times while it was written to", folder.string(),
              kAttempts);
}

Result<Index::Unsaved> StoreState::save_uses(size_t slots, size_t uses) {
  Index* shared = index.load();
  Index::Unsaved what;
  if (!shared || !shared->save_due(current_hour())) return what;
  what = shared->next_unsaved(current_hour(), slots, uses);
  for (const Index::Unsaved::Use& use : what.uses) SMELT_TRY_VOID(tables.entry.used(use.key, use.hour, use.hits));
  SMELT_TRY_VOID(tables.counter.add(what.counters));
  return what;
}

Result<void> StoreState::close() {
  if (options.read_only) return {};
  std::lock_guard lock(mutex);
  Index* shared = current_index_locked();
  if (!shared) return {};
  std::array<uint64_t, kIndexCounters> values{};
  for (size_t i = 0; i < values.size(); ++i) values[i] = counted[i].exchange(0, std::memory_order_relaxed);
  shared->add_counters(values);
  // Counters that go into the index of a folder that is gone are gone with it; only the database must be the right one.
  if (!shared->save_due(current_hour()) || moved()) return {};
  SMELT_TRY_VOID(prepare_to_write());
  ByteLock writer(lock_fd, kWriterByte);
  if (!writer.held()) return {};  // whoever holds it saves in passing
  SMELT_TRY_VOID(open_database_locked());
  SMELT_TRY(auto transaction, Transaction::begin(database));
  SMELT_TRY(const auto saved, save_uses(kSlotsAtClose, kUsesAtClose));
  SMELT_TRY_VOID(transaction.commit());
  shared->set_saved(saved);
  return {};
}

Result<StoreState::Append> StoreState::append(ByteView bytes) {
  const uint64_t need = aligned(bytes.size());
  if (!tail) {
    SMELT_TRY(const auto open, tables.pack.open());
    if (open) {
      // Behind everything in the file, whatever the row says: bytes that somebody reads are never overwritten.
      const uint64_t there = aligned(packs.size(open->id));
      tail = Tail{open->id, there, there - std::min(there, open->bytes), there};
      if (there < open->bytes) {  // what it had is lost: nothing more goes in
        tail.reset();
        SMELT_TRY_VOID(tables.pack.seal(open->id));
      }
    }
  }
  if (tail && tail->bytes > 0 && tail->bytes + need > options.segment_bytes) {
    const uint64_t full = tail->pack;
    SMELT_TRY_VOID(keep_tail());
    SMELT_TRY_VOID(tables.pack.seal(full));
  }
  if (!tail) {
    // Ids are never used twice: another process may still remember entries of an old pack of that number. The newest
    // pack is never removed, so the largest id is always known; files left by a database that was set aside count too.
    SMELT_TRY(const uint64_t newest, tables.pack.newest());
    tail = Tail{std::max(newest, packs.largest_id()) + 1};
    SMELT_TRY_VOID(tables.pack.insert(tail->pack));
  }
  const Append place{tail->pack, tail->bytes};
  SMELT_TRY_VOID(packs.write(place.pack, place.at, bytes));
  if (options.durable) SMELT_TRY_VOID(packs.sync(place.pack));
  tail->bytes += need;
  tail->added += need;
  count(kBytesWritten, bytes.size());
  return place;
}

Result<void> StoreState::keep_tail() {
  const auto kept = std::exchange(tail, std::nullopt);
  if (!kept || kept->added == 0) return {};
  return tables.pack.grow(kept->pack, kept->bytes, kept->added);
}

Result<void> StoreState::drop_unused(const std::vector<BlobRow>& blobs) {
  for (const BlobRow& blob : blobs) {
    SMELT_TRY(const bool used, tables.blob.is_used(blob.id));
    if (used) continue;
    SMELT_TRY_VOID(tables.blob.erase(blob.id));
    SMELT_TRY_VOID(tables.pack.give_back(blob.pack, aligned(blob.stored)));
  }
  return {};
}

Result<void> StoreState::delete_entry(const EntryRow& row) {
  if (Index* shared = index.load()) shared->erase(row.key);
  SMELT_TRY(const auto blobs, tables.blob.of_entry(row.id));
  SMELT_TRY_VOID(tables.blob.unlink_all(row.id));
  SMELT_TRY_VOID(drop_unused(blobs));
  SMELT_TRY_VOID(tables.pack.give_back(row.pack, aligned(row.bytes)));
  mark_lost(row);
  return tables.entry.erase(row.id);
}

void StoreState::mark_lost(const EntryRow& row) {
  // Something else may lie where a damaged row says.
  if (packs.copy_whole(row.pack, row.at, row.bytes, row.sum)) lost.push_back({row.pack, row.at});
}

Result<bool> Store::remove(const Digest& key) {
  StoreState& state = *state_;
  bool removed = false;
  SMELT_TRY_VOID(state.write([&]() -> Result<void> {
    SMELT_TRY(const auto row, state.tables.entry.find(key));
    removed = row.has_value();
    if (row) SMELT_TRY_VOID(state.delete_entry(*row));
    return {};
  }));
  return removed;
}

}  // namespace smelt::cache
