// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The index, which follows the database: opened, filled, mended, made anew.
//
// A new one is empty, and filled a thousand rows at a time: when a store is opened for as long as nobody minds, then by
// finds that the database had to answer and after puts. Until it is full, a key that it does not have is looked up in
// the database.
#include "store_state.hpp"

namespace smelt::cache {
namespace {

constexpr size_t kRowsInOne = 1024;                  // holding of the writer lock
constexpr std::chrono::microseconds kForThem{2048};  // where nobody else works
constexpr uint64_t kLongestLead = uint64_t{1} << 20;

}  // namespace

Index* StoreState::current_index() {
  Index* shared = index.load(std::memory_order_acquire);
  if (!shared || (!shared->superseded() && !shared->lost() && !shared->outgrown())) return shared;
  std::lock_guard lock(mutex);
  return current_index_locked();
}

Index* StoreState::current_index_locked() {
  Index* const shared = index.load(std::memory_order_relaxed);
  if (shared && shared->lost()) {
    // Its file is left to the next writer, who makes another: what it holds now is unknown.
    index_lost = true;
    return use_index(nullptr);
  }
  if (shared && !shared->superseded() && !shared->outgrown()) return shared;
  if (index_lost) return nullptr;
  auto opened = Index::open(file_of(folder, "index"), !options.read_only);
  if (opened && ((store_id != 0 && opened->store_id() != store_id) || opened->outgrown())) opened = nullptr;
  return use_index(std::move(opened));
}

Index* StoreState::use_index(std::unique_ptr<Index> opened) {
  index.store(opened.get(), std::memory_order_release);
  if (opened) indexes.push_back(std::move(opened));
  return index.load(std::memory_order_relaxed);
}

Result<void> StoreState::insert_index(const Published& entry) {
  const Place& place = entry.place;
  const auto inserted = [&] {
    Index* const shared = index.load();
    return shared->has_at(entry.key, place, entry.hour) ||
           shared->insert(entry.key, place, entry.hour, entry.hour_saved, entry.hits);
  };
  if (Index* const shared = index.load(); !shared || shared->superseded()) SMELT_TRY_VOID(make_index());
  if (inserted()) return {};
  // It has grown past what is mapped here; or there is no room.
  auto larger = index.load()->lost() ? nullptr : Index::open(file_of(folder, "index"), true);
  if (larger && larger->store_id() == store_id) {
    use_index(std::move(larger));
    if (inserted()) return {};
  }
  if (index.load()->lost()) return renew_index();  // filled from the rows, so the new entry will be in it
  index.load()->set_filled(0);                     // what it lacks comes when there is room
  return fail(Errc::io, "store {}: the index cannot grow", folder.string());
}

Result<void> StoreState::make_index() {
  if (options.read_only) return {};
  // Another process may have made one while we waited for the lock.
  if (auto opened = index_lost ? nullptr : Index::open(file_of(folder, "index"), true);
      opened && opened->store_id() == store_id && (!index.load() || index.load()->superseded())) {
    use_index(std::move(opened));
    return {};
  }
  return renew_index();
}

Result<void> StoreState::renew_index() {
  if (options.read_only) return {};
  // Of another boot its places are not trusted; an hour of use or a counter does no harm when it is wrong.
  auto outdated = Index::open_outdated(file_of(folder, "index"));
  Index* const mapped = index.load();
  SMELT_TRY(auto fresh, Index::create(file_of(folder, "index"), store_id, *files));
  hours_from = mapped;
  if (!mapped && outdated && outdated->store_id() == store_id) hours_from = outdated.get();
  if (hours_from) fresh->add_counters(hours_from->counters());
  if (mapped) mapped->supersede();
  if (outdated) {
    outdated->supersede();
    indexes.push_back(std::move(outdated));
  }
  fresh->set_pending(false);
  use_index(std::move(fresh));
  index_lost = false;
  filled_to = {};
  return {};
}

Result<void> StoreState::fill_index() {
  Index* const shared = index.load();
  if (!shared || !shared->filling()) return {};
  const int64_t from = shared->filled();
  SMELT_TRY(const auto rows, tables.entry.after(from, kRowsInOne));
  for (const EntryRow& row : rows) {
    Place place = row.place();
    // Bytes between two records were written with the second one; or they are dead, and a little too much is read
    // ahead.
    if (filled_to.pack == place.pack && place.at >= filled_to.end && place.at - filled_to.end <= kLongestLead)
      place.lead = place.at - filled_to.end;
    filled_to = {place.pack, aligned(place.at + place.bytes)};
    if (shared->has(row.key)) continue;  // put since, or there before
    const auto saved = static_cast<uint32_t>(row.used_hour);
    const uint32_t hour = std::max(saved, hours_from ? hours_from->hour_of(row.key) : 0);
    SMELT_TRY_VOID(insert_index({row.key, place, hour, hour == saved, hours_from ? hours_from->hits_of(row.key) : 0}));
    if (index.load() != shared) return {};  // mapped again, or another one: the next step goes on with that
  }
  const bool all = rows.size() < kRowsInOne;
  shared->set_filled(all ? Index::kFilled : rows.back().id);
  if (all) hours_from = nullptr;
  return {};
}

Result<void> StoreState::mend_index() {
  Index* const shared = index.load();
  if (!shared || !shared->pending()) return {};
  if (const auto keys = shared->noted()) {
    for (const Digest& key : *keys) {
      SMELT_TRY(const auto row, tables.entry.find(key));
      if (!row) continue;  // its slot went before the row did
      const Published entry{key, row->place(), static_cast<uint32_t>(row->used_hour), true, 0};
      if (auto inserted = insert_index(entry); !inserted) {  // it is filled anew, when there is room
        warn("index", inserted.error().message);
        break;
      }
    }
  } else {
    shared->set_filled(0);  // every row is looked at
  }
  shared->set_mended();
  return {};
}

void StoreState::go_on_filling(std::chrono::microseconds most) {
  if (options.read_only) return;
  Result<void> done;
  for (WorkSlice slice(most);;) {
    if (const Index* const shared = index.load(); shared && !shared->filling()) return;
    // Nobody is waited for, and nobody waits for more than a thousand rows.
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock) return;
    done = open_database();
    if (done && lock_fd >= 0) {
      const ByteLock writer(lock_fd, kWriterByte);
      if (!writer.held() || moved()) return;
      Index* const shared = current_index_locked();
      if (shared && shared->pending()) return;  // the next writer mends it
      done = shared ? fill_index() : make_index();
    }
    if (!done && done.error().code == Errc::store_corrupt) done = recover(done.error());
    if (!done) return warn("index", done.error().message);  // that costs speed, not correctness
    slice.add(kForThem);
    if (slice.is_over()) return;
  }
}

}  // namespace smelt::cache
