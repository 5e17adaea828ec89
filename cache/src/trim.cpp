// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeping the budget. First entries go (rows only), then packs that are mostly dead: what still lives in them moves to
// the open pack and the file is removed whole. Nothing is cut out of a file that a reader may have mapped.
//
// On a full disk neither can be done: a transaction has no room for its log. The reserve lends it some, enough to take
// the entries of one pack away a few at a time; then the pack's file goes whole.
#include "smelt/cache/store.hpp"

#include "store_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace smelt::cache {
namespace {

constexpr size_t kEntriesPerTransaction = 64;  // writers queue behind us for a few milliseconds at most
constexpr size_t kEntriesIntoReserve = 16;     // whose pages fit into the reserve as a log, wherever they lie
constexpr uint64_t kFullDisk = uint64_t{32}
                               << 20;  // free bytes below which a failure to write is taken for a full disk

struct Candidate {
  EntryRow row;
  uint64_t worth;  // hours; smaller goes first
};

// What took long to make counts as used more recently: an hour for each 100 ms, three days at most.
uint64_t worth(const EntryRow& row, const Index* index) {
  return std::max<uint64_t>(row.used_hour, index ? index->hour_of(row.key) : 0) +
         std::min<uint64_t>(row.cost_us / 100000, 72);
}

class Trim {
 public:
  Trim(StoreState& state, uint64_t budget) : state_(state), budget_(budget), target_(budget - budget / 10) {}

  Result<TrimReport> run() {
    auto done = once();
    while (!done && done.error().code == Errc::io && free_bytes(state_.folder) < kFullDisk) {
      SMELT_TRY(const bool freed, make_space());
      if (!freed) return done;
      done = once();
    }
    if (done) state_.keep_reserve();
    return done;
  }

 private:
  struct Totals {
    uint64_t bytes = 0, live = 0;
  };

  Result<TrimReport> once() {
    SMELT_TRY(const Totals before, totals());
    report_.bytes_before = std::max(report_.bytes_before, before.bytes);
    SMELT_TRY_VOID(evict());
    SMELT_TRY_VOID(remove_strays());
    SMELT_TRY_VOID(give_back());
    SMELT_TRY(const Totals after, totals());
    report_.bytes_after = after.bytes;
    report_.bytes_wanted = budget_;
    SMELT_TRY(report_.bytes_tagged, tagged_bytes());
    return report_;
  }

  Result<uint64_t> tagged_bytes() {
    std::lock_guard lock(state_.mutex);
    return state_.tables.entry.tagged_size();
  }

  Result<std::vector<PackRow>> packs() {
    std::lock_guard lock(state_.mutex);
    SMELT_TRY_VOID(state_.open_database());
    return state_.tables.pack.all();
  }

  Result<Totals> totals() {
    SMELT_TRY(const auto rows, packs());
    Totals sum;
    for (const PackRow& pack : rows) sum.bytes += pack.bytes, sum.live += pack.live;
    return sum;
  }

  Result<std::vector<Candidate>> candidates() {
    std::lock_guard lock(state_.mutex);
    SMELT_TRY_VOID(state_.open_database());
    SMELT_TRY(const auto rows, state_.tables.entry.untagged());
    std::vector<Candidate> found;
    found.reserve(rows.size());
    for (const EntryRow& row : rows) found.push_back({row, worth(row, state_.index.load())});
    std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(a.worth, a.row.id) < std::pair(b.worth, b.row.id);
    });
    return found;
  }

  /// Rows go, least worth first, until what is left fits.
  Result<void> evict() {
    SMELT_TRY(Totals sum, totals());
    if (budget_ == 0 || sum.live <= target_) return {};
    SMELT_TRY(const auto order, candidates());
    for (size_t next = 0; sum.live > target_ && next < order.size();) {
      const size_t first = next;
      // Stop at what should suffice; shared blobs may need another round.
      for (uint64_t planned = 0; next < order.size() && next - first < kEntriesPerTransaction &&
                                 sum.live - std::min(sum.live, planned) > target_;)
        planned += order[next++].row.size + 128;
      uint64_t removed = 0;
      SMELT_TRY_VOID(state_.write([&]() -> Result<void> {
        removed = 0;
        for (size_t i = first; i < next; ++i) {
          SMELT_TRY(const bool gone, evict_one(order[i]));
          removed += gone;
        }
        return {};
      }));
      report_.entries_removed += removed;
      state_.count(kEvicted, removed);
      SMELT_TRY(sum, totals());
    }
    return {};
  }

  /// False: used, tagged or replaced since the list was made.
  Result<bool> evict_one(const Candidate& candidate) {
    SMELT_TRY(const auto row, state_.tables.entry.find(candidate.row.key));
    if (!row || row->sum != candidate.row.sum || worth(*row, state_.index.load()) > candidate.worth) return false;
    SMELT_TRY(const bool tagged, state_.tables.entry.is_tagged(row->key));
    if (tagged) return false;
    SMELT_TRY_VOID(state_.delete_entry(*row));
    return true;
  }

  /// Packs without a row: left by a writer that died before its commit, or by a database that was set aside.
  Result<void> remove_strays() {
    return state_.write([&]() -> Result<void> {
      SMELT_TRY(const uint64_t newest, state_.tables.pack.newest());
      for (const uint64_t id : state_.packs.ids()) {
        SMELT_TRY(const bool known, state_.tables.pack.has(id));
        if (!known && id < newest) state_.packs.remove(id);
      }
      return {};
    });
  }

  /// Empties packs, deadest first, until their files fit.
  Result<void> give_back() {
    for (;;) {
      SMELT_TRY(auto rows, packs());
      uint64_t bytes = 0;
      for (const PackRow& pack : rows) bytes += pack.bytes;
      if (budget_ == 0 || bytes <= target_) return {};
      std::erase_if(rows, [](const PackRow& pack) { return !pack.sealed || pack.live >= pack.bytes; });
      if (rows.empty()) {
        SMELT_TRY(const bool sealed, seal_open());
        if (!sealed) return {};
        continue;
      }
      const auto deadest = std::min_element(rows.begin(), rows.end(), [](const PackRow& a, const PackRow& b) {
        return std::pair(a.live * b.bytes, a.id) < std::pair(b.live * a.bytes, b.id);
      });
      SMELT_TRY_VOID(state_.empty_pack(deadest->id, contents_));
    }
  }

  /// All that could be given back lies in the open pack: seals it, so that it can be emptied, if that pays.
  Result<bool> seal_open() {
    bool sealed = false;
    SMELT_TRY_VOID(state_.write([&]() -> Result<void> {
      SMELT_TRY(const auto open, state_.tables.pack.open());
      sealed = open && open->live < open->bytes / 2;
      return sealed ? state_.tables.pack.seal(open->id) : Result<void>();
    }));
    return sealed;
  }

  /// Makes room on a full disk. False: there is nothing to remove, or its space does not come back.
  Result<bool> make_space() {
    const uint64_t before = free_bytes(state_.folder);
    state_.give_up_reserve();
    SMELT_TRY(const auto victim, least_worth_pack());
    if (!victim) return free_bytes(state_.folder) > before;
    auto dropped = drop(*victim);
    if (dropped) dropped = state_.empty_pack(victim->pack, contents_);
    return dropped.has_value() || free_bytes(state_.folder) > before;
  }

  struct Victim {
    uint64_t tagged_bytes = 0;  // the fewest first, as these have to be moved
    uint64_t worth = 0;         // of the best entry; then the smallest
    uint64_t pack = 0;
    std::vector<Digest> untagged;
  };

  Result<std::optional<Victim>> least_worth_pack() {
    SMELT_TRY(const auto rows, packs());
    std::lock_guard lock(state_.mutex);
    SMELT_TRY(const auto entries, state_.tables.entry.all());
    SMELT_TRY(const auto blobs, state_.tables.entry.blob_packs());
    std::unordered_map<int64_t, std::set<uint64_t>> packs_of;  // by entry
    for (const InPack& blob : blobs) packs_of[blob.id].insert(blob.pack);
    std::map<uint64_t, Victim> victims;
    for (const PackRow& pack : rows)
      if (pack.bytes != 0) victims[pack.id].pack = pack.id;
    for (const EntryRow& entry : entries) {
      std::set<uint64_t>& in = packs_of[entry.id];
      in.insert(entry.pack);
      SMELT_TRY(const bool tagged, state_.tables.entry.is_tagged(entry.key));
      for (const uint64_t pack : in) {
        const auto victim = victims.find(pack);
        if (victim == victims.end()) continue;
        if (tagged) victim->second.tagged_bytes += entry.size;
        victim->second.worth = std::max(victim->second.worth, worth(entry, state_.index.load()));
        if (!tagged) victim->second.untagged.push_back(entry.key);
      }
    }
    std::optional<Victim> least;
    for (auto& [pack, victim] : victims) {
      const auto rank = [](const Victim& one) { return std::tuple(one.tagged_bytes, one.worth, one.pack); };
      if (!victim.untagged.empty() && (!least || rank(victim) < rank(*least))) least = std::move(victim);
    }
    return least;
  }

  /// A few entries at a time, each time into an empty log.
  Result<void> drop(const Victim& victim) {
    SMELT_TRY_VOID(state_.write([&]() -> Result<void> {
      SMELT_TRY(const auto open, state_.tables.pack.open());
      return open && open->id == victim.pack ? state_.tables.pack.seal(open->id) : Result<void>();
    }));
    for (size_t first = 0; first < victim.untagged.size(); first += kEntriesIntoReserve) {
      const size_t last = std::min(first + kEntriesIntoReserve, victim.untagged.size());
      SMELT_TRY_VOID(state_.write([&]() -> Result<void> {
        for (size_t i = first; i < last; ++i) {
          SMELT_TRY(const auto row, state_.tables.entry.find(victim.untagged[i]));
          if (row) SMELT_TRY_VOID(state_.delete_entry(*row));
        }
        return {};
      }));
      report_.entries_removed += last - first;
      state_.count(kEvicted, last - first);
      state_.give_up_reserve();
    }
    return {};
  }

  StoreState& state_;
  const uint64_t budget_, target_;
  TrimReport report_;
  PackContents contents_;
};

}  // namespace

Result<TrimReport> Store::trim(uint64_t max_bytes) {
  StoreState& state = *state_;
  if (state.options.read_only) return fail(Errc::io, "store {}: opened read-only", state.folder.string());
  {
    std::lock_guard lock(state.mutex);
    SMELT_TRY_VOID(state.keep_ground());
  }
  // A descriptor of its own, so that two threads of one process exclude each other too.
  SMELT_TRY(const int fd, open_lock_file(state.folder));
  struct Closer {
    int fd;
    ~Closer() { close_lock_file(fd); }
  } closer{fd};
  ByteLock trimming(fd, kTrimByte, false);
  if (!trimming.held()) return TrimReport{.busy = true};
  return Trim(state, max_bytes != 0 ? max_bytes : state.options.max_bytes).run();
}

}  // namespace smelt::cache
