// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The index, which follows the database: opened, filled, made anew.
#include "store_state.hpp"

#include <algorithm>

namespace smelt::cache {

Index* StoreState::current_index() {
  Index* shared = index.load(std::memory_order_acquire);
  if (!shared || (!shared->superseded() && !shared->lost())) return shared;
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
  if (shared && !shared->superseded()) return shared;
  if (index_lost) return nullptr;
  auto opened = Index::open(file_of(folder, "index"), !options.read_only);
  if (opened && store_id != 0 && opened->store_id() != store_id) opened = nullptr;
  return use_index(std::move(opened));
}

Index* StoreState::use_index(std::unique_ptr<Index> opened) {
  index.store(opened.get(), std::memory_order_release);
  if (opened) indexes.push_back(std::move(opened));
  return index.load(std::memory_order_relaxed);
}

Result<void> StoreState::insert_index(const Published& entry) {
  Index* shared = index.load();
  if (!shared || shared->superseded()) {
    SMELT_TRY_VOID(rebuild_index());  // takes the table that superseded it, if there is one
    shared = index.load();
  }
  const Place& place = entry.place;
  if (shared->has_at(entry.key, place, entry.hour)) return {};
  if (shared->insert(entry.key, place, entry.hour, entry.hour_saved, entry.hits)) return {};
  auto larger = shared->grow(file_of(folder, "index"), *files);
  if (!larger || shared->lost()) return rebuild_index();  // from the rows, so the new entry is in it
  use_index(std::move(*larger))->insert(entry.key, place, entry.hour, entry.hour_saved, entry.hits);
  return {};
}

Result<void> StoreState::rebuild_index() {
  if (options.read_only) return {};
  // Another process may have made one while we waited for the lock.
  if (auto opened = index_lost ? nullptr : Index::open(file_of(folder, "index"), true);
      opened && opened->store_id() == store_id && (!index.load() || index.load()->superseded())) {
    use_index(std::move(opened));
    return {};
  }
  SMELT_TRY(auto rows, tables.entry.all());
  // Of another boot its places are not trusted; an hour of use or a counter does no harm when it is wrong.
  const auto outdated = Index::open_outdated(file_of(folder, "index"));
  Index* old = index.load();
  if (!old && outdated && outdated->store_id() == store_id) old = outdated.get();
  SMELT_TRY(auto fresh,
            Index::create(file_of(folder, "index"), store_id, std::max<uint64_t>(rows.size() * 2, 4096), *files));
  std::sort(rows.begin(), rows.end(),
            [](const EntryRow& a, const EntryRow& b) { return std::pair(a.pack, a.at) < std::pair(b.pack, b.at); });
  // What lies between two records was written with the second one, or is dead and the reading ahead a little too long.
  constexpr uint64_t kMostLead = uint64_t{1} << 20;
  uint64_t pack = 0, end = 0;
  for (const EntryRow& row : rows) {
    Place place = row.place();
    if (place.pack != pack) end = 0;
    pack = place.pack;
    if (place.at - end <= kMostLead) place.lead = place.at - end;
    end = aligned(place.at + place.bytes);
    const auto saved = static_cast<uint32_t>(row.used_hour);
    const uint32_t hour = std::max(saved, old ? old->hour_of(row.key) : 0);
    fresh->insert(row.key, place, hour, hour == saved, old ? old->hits_of(row.key) : 0);
  }
  if (old) fresh->add_counters(old->counters());
  if (Index* mapped = index.load()) mapped->supersede();
  if (outdated) outdated->supersede();
  fresh->set_pending(false);
  use_index(std::move(fresh));
  index_lost = false;
  return {};
}

}  // namespace smelt::cache
