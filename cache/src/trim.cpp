// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeping the budget, in slices of milliseconds after a put. First entries go (rows only), then packs that are mostly
// dead: what still lives in them moves to the open pack and the file is removed whole. Nothing is cut out of a file
// that another process may be reading. At last the index and the database give back what they do not need any more.
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

constexpr uint64_t kLittle = uint64_t{1} << 20;  // bytes of the database that are not worth the work
constexpr size_t kEntriesPerTransaction = 64;    // writers queue behind us for a few milliseconds at most
constexpr size_t kEntriesIntoReserve = 16;       // whose pages fit into the reserve as a log, wherever they lie
constexpr uint64_t kFullDisk = uint64_t{32}
                               << 20;  // free bytes below which a failure to write is taken for a full disk

// An hour that has not come yet was written by a clock that was ahead, and says nothing.
uint64_t last_use(const EntryRow& row, const Index* index) {
  const uint64_t saved = row.used_hour <= current_hour() ? row.used_hour : 0;
  return std::max<uint64_t>(saved, index ? index->hour_of(row.key) : 0);
}
// An entry that took long to make counts as used more recently: an hour for each 100 ms, three days at most.
uint64_t worth(const EntryRow& row, const Index* index) {
  return last_use(row, index) + std::min<uint64_t>(row.cost_us / 100000, 72);
}

}  // namespace

/// A trim, in one go or in many. Between two goes anybody may change the store: what is about to be removed is looked
/// at again.
class Trim {
 public:
  Trim(StoreState& state, const TrimOptions& options) : state_(state), options_(options) {
    limit_ = options.max_bytes;
    if (!limit_ && !options.unused_for && state.options.max_bytes != 0) limit_ = state.options.max_bytes;
    target_ = limit_ ? *limit_ - *limit_ / 10 : std::numeric_limits<uint64_t>::max();
    report_.bytes_wanted = limit_;
  }

  /// To the end, on a full disk too; but what shrinks tables takes no longer than `shrinking`. False: that is not done.
  Result<bool> run(WorkSlice& shrinking) {
    WorkSlice all;
    for (;;) {
      const auto done = go_on(all, shrinking);
      if (done) return done;
      if (done.error().code != Errc::io || free_bytes(state_.folder) >= kFullDisk) return done;
      SMELT_TRY(const bool freed, make_space());
      if (!freed) return done;
      begin();
    }
  }

  /// True: it is at its end.
  Result<bool> go_on(WorkSlice& slice) { return go_on(slice, slice); }

  const TrimReport& report() const { return report_; }

 private:
  enum class Phase { tags, list, evict, strays, give_back, shrink, done };

  struct Totals {
    uint64_t bytes = 0, live = 0;
  };

  struct Candidate {
    int64_t id = 0;
    uint64_t sum = 0;   // half of it: the row has not become another's
    uint32_t rank = 0;  // smaller goes first
    uint32_t size = 0;
  };
  static constexpr uint64_t kMustGo = 0;

  Result<bool> go_on(WorkSlice& slice, WorkSlice& shrinking) {
    // Rows of another store, or of a database that was made anew: what was listed is void.
    SMELT_TRY(const uint64_t store, state_.ask<uint64_t>([&]() -> Result<uint64_t> { return state_.store_id; }));
    if (store_id_ != store) begin();
    store_id_ = store;
    while (phase_ != Phase::done) {
      SMELT_TRY(const bool next, work(phase_ == Phase::shrink ? shrinking : slice));
      if (!next) return false;
      phase_ = static_cast<Phase>(static_cast<int>(phase_) + 1);
    }
    SMELT_TRY(const Totals after, totals());
    report_.bytes_after = after.bytes;
    SMELT_TRY(report_.bytes_tagged, tagged_bytes());
    state_.keep_reserve();
    return true;
  }

  void begin() {
    phase_ = Phase::tags;
    order_ = {};
    next_ = 0;
    listed_ = 0;
    newest_.reset();
    begun_ = emptied_ = 0;
    contents_ = {};
    shrinking_ = {};
  }

  /// Works on one phase. False: the slice is over.
  Result<bool> work(WorkSlice& slice) {
    switch (phase_) {
      case Phase::tags: {
        SMELT_TRY(const Totals before, totals());
        report_.bytes_before = std::max(report_.bytes_before, before.bytes);
        if (options_.tagged) SMELT_TRY_VOID(state_.write([&] { return state_.tables.tag.clear(); }));
        return true;
      }
      case Phase::list:
        return list(slice);
      case Phase::evict:
        return evict(slice);
      case Phase::strays:
        SMELT_TRY_VOID(remove_strays());
        return true;
      case Phase::give_back:
        return give_back(slice);
      case Phase::shrink:
        return shrink(slice);
      case Phase::done:
        break;
    }
    return true;
  }

  /// The bytes that packs may take: the rest of the target is the tables'.
  Result<uint64_t> room() {
    SMELT_TRY(const auto tables, state_.ask<StoreState::TableBytes>([&] { return state_.table_bytes(); }));
    return target_ - std::min(target_, tables.needed);
  }

  Result<uint64_t> tagged_bytes() {
    return state_.ask<uint64_t>([&] { return state_.tables.entry.tagged_size(); });
  }

  Result<std::vector<PackRow>> packs() {
    return state_.ask<std::vector<PackRow>>([&]() -> Result<std::vector<PackRow>> {
      SMELT_TRY(auto rows, state_.tables.pack.all());
      for (const PackRow& row : rows)
        if (row.live > row.bytes || row.bytes > aligned(state_.packs.size(row.id)))
          return fail(Errc::store_corrupt, "store database: pack {} has {} bytes, {} of them in use, and its file {}",
                      row.id, row.bytes, row.live, state_.packs.size(row.id));
      return rows;
    });
  }

  static Totals sum_of(const std::vector<PackRow>& rows) {
    Totals sum;
    for (const PackRow& pack : rows) sum.bytes += pack.bytes, sum.live += pack.live;
    return sum;
  }

  Result<Totals> totals() {
    SMELT_TRY(const auto rows, packs());
    return sum_of(rows);
  }

  /// True when nobody has used it for as long as was said.
  bool is_old(const EntryRow& row) const {
    if (!options_.unused_for) return false;
    const auto hours = static_cast<uint64_t>(std::max<int64_t>(options_.unused_for->count(), 0));
    return last_use(row, state_.index.load()) + hours <= current_hour();
  }
  uint64_t rank(const EntryRow& row) const { return is_old(row) ? kMustGo : 1 + worth(row, state_.index.load()); }

  /// Lists what may go, least worth first; of entries that are put meanwhile, some.
  Result<bool> list(WorkSlice& slice) {
    constexpr size_t kRows = 1024;
    SMELT_TRY(const Totals sum, totals());
    SMELT_TRY(const uint64_t target, room());
    if (sum.live <= target && !options_.unused_for) return true;
    for (;;) {
      if (slice.is_over()) return false;
      SMELT_TRY(const auto rows, state_.ask<std::vector<EntryRow>>([&]() -> Result<std::vector<EntryRow>> {
        SMELT_TRY(auto found, state_.tables.entry.after(listed_, kRows));
        for (const EntryRow& row : found) {
          const uint64_t place = rank(row);
          if (limit_ || place == kMustGo)
            order_.push_back({row.id, half(row.sum), static_cast<uint32_t>(std::min<uint64_t>(place, UINT32_MAX)),
                              static_cast<uint32_t>(std::min<uint64_t>(row.size, UINT32_MAX))});
        }
        return found;
      }));
      if (!rows.empty()) listed_ = rows.back().id;
      slice.add(std::chrono::microseconds(rows.size()));
      if (rows.size() < kRows) break;  // not only when there are none: puts in between add some
    }
    std::sort(order_.begin(), order_.end(),
              [](const Candidate& a, const Candidate& b) { return std::pair(a.rank, a.id) < std::pair(b.rank, b.id); });
    return true;
  }

  /// Rows go, least worth first, until what is left fits.
  Result<bool> evict(WorkSlice& slice) {
    SMELT_TRY(Totals sum, totals());
    SMELT_TRY(uint64_t target, room());
    const auto wanted = [&](uint64_t planned) {
      return next_ < order_.size() &&
             (order_[next_].rank == kMustGo || sum.live - std::min(sum.live, planned) > target);
    };
    while (wanted(0)) {
      if (slice.is_over()) return false;
      const size_t first = next_;
      // Stop at what should suffice; shared blobs may need another round.
      for (uint64_t planned = 0; next_ - first < kEntriesPerTransaction && wanted(planned);)
        planned += order_[next_++].size + 128;
      uint64_t removed = 0;
      SMELT_TRY_VOID(state_.write([&]() -> Result<void> {
        removed = 0;
        if (state_.store_id != store_id_) return {};
        SMELT_TRY(const auto tagged, state_.tables.tag.keys());
        for (size_t i = first; i < next_; ++i) {
          SMELT_TRY(const bool gone, evict_one(order_[i], tagged));
          removed += gone;
        }
        return {};
      }));
      report_.entries_removed += removed;
      state_.count(kEvicted, removed);
      slice.add(std::chrono::microseconds(20 * (next_ - first)));
      SMELT_TRY(sum, totals());
      SMELT_TRY(target, room());  // grows, as the tables need less
    }
    return true;
  }

  /// False: tagged, or used or replaced since the list was made.
  Result<bool> evict_one(const Candidate& candidate, const std::set<Digest>& tagged) {
    SMELT_TRY(const auto row, state_.tables.entry.at(candidate.id));
    if (!row || half(row->sum) != candidate.sum || rank(*row) > candidate.rank || tagged.contains(row->key))
      return false;
    SMELT_TRY_VOID(state_.delete_entry(*row));
    return true;
  }

  /// Packs without a row, of a writer that died before its commit; files that others were making when they died; the
  /// database that was set aside.
  Result<void> remove_strays() {
    return state_.write([&]() -> Result<void> {
      SMELT_TRY(const uint64_t newest, state_.tables.pack.newest());
      for (const uint64_t id : state_.packs.ids()) {
        SMELT_TRY(const bool known, state_.tables.pack.has(id));
        if (!known && id < newest) state_.packs.remove(id);
      }
      state_.remove_debris();
      return {};
    });
  }

  /// Empties packs, deadest first, until their files fit. What this made itself stays: rows of a damaged database may
  /// say of it, too, that a part is dead.
  Result<bool> give_back(WorkSlice& slice) {
    if (!newest_) {
      SMELT_TRY(newest_, state_.ask<uint64_t>([&] { return state_.tables.pack.newest(); }));
    }
    for (;;) {
      SMELT_TRY(auto rows, packs());
      const Totals sum = sum_of(rows);
      SMELT_TRY(uint64_t target, room());
      if (options_.unused_for) target = std::min(target, sum.live + sum.live / 4);
      if (sum.bytes <= target) return true;
      std::erase_if(rows,
                    [&](const PackRow& pack) { return !pack.sealed || pack.live >= pack.bytes || pack.id > *newest_; });
      if (rows.empty()) {
        SMELT_TRY(const bool sealed, seal_open(*newest_));
        if (!sealed) return true;
        continue;
      }
      const auto deadest = std::min_element(rows.begin(), rows.end(), [](const PackRow& a, const PackRow& b) {
        return std::pair(a.live * b.bytes, a.id) < std::pair(b.live * a.bytes, b.id);
      });
      // One that was begun is finished first.
      const auto begun = std::find_if(rows.begin(), rows.end(), [&](const PackRow& pack) { return pack.id == begun_; });
      begun_ = (begun != rows.end() ? begun : deadest)->id;
      // A table in which a row is found and cannot be removed would be emptied for ever.
      if (begun_ == emptied_) SMELT_TRY_VOID(state_.write([&]() -> Result<void> { return still_there(); }));
      SMELT_TRY(const bool emptied, state_.empty_pack(begun_, contents_, slice));
      if (!emptied) return false;
      emptied_ = contents_.store_id == store_id_ ? begun_ : 0;
    }
  }

  /// The index and the database, until all fits. Pages that are unused do no harm below that: the next entries take
  /// them.
  Result<bool> shrink(WorkSlice& slice) {
    const uint64_t most = limit_ ? *limit_ - *limit_ / 20 : target_;
    for (;;) {
      if (slice.is_over()) return false;
      SMELT_TRY(const Totals sum, totals());
      SMELT_TRY(const bool more, state_.shrink_some(shrinking_, most - std::min(most, sum.bytes)));
      if (!more) return true;
      slice.add(std::chrono::milliseconds(1));
    }
  }

  tl::unexpected<Error> still_there() const {
    return fail(Errc::store_corrupt, "store database: pack {} is still there after it was removed", begun_);
  }

  /// All that could be given back lies in the open pack: seals it, so that it can be emptied, if that pays.
  Result<bool> seal_open(uint64_t newest) {
    bool sealed = false;
    SMELT_TRY_VOID(state_.write([&]() -> Result<void> {
      SMELT_TRY(const auto open, state_.tables.pack.open());
      const uint64_t most = !open ? 0 : options_.unused_for ? open->bytes - open->bytes / 5 : open->bytes / 2;
      sealed = open && open->id <= newest && open->live < most;
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
    WorkSlice all;
    contents_ = {};
    if (dropped) {
      const auto emptied = state_.empty_pack(victim->pack, contents_, all);
      if (!emptied) dropped = tl::unexpected(emptied.error());
    }
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
    SMELT_TRY(const auto tagged_keys, state_.tables.tag.keys());
    std::unordered_map<int64_t, std::set<uint64_t>> packs_of;  // by entry
    for (const InPack& blob : blobs) packs_of[blob.id].insert(blob.pack);
    std::map<uint64_t, Victim> victims;
    for (const PackRow& pack : rows)
      if (pack.bytes != 0) victims[pack.id].pack = pack.id;
    for (const EntryRow& entry : entries) {
      std::set<uint64_t>& in = packs_of[entry.id];
      in.insert(entry.pack);
      const bool tagged = tagged_keys.contains(entry.key);
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
  const TrimOptions options_;
  std::optional<uint64_t> limit_;
  uint64_t target_ = 0;
  TrimReport report_;
  Phase phase_ = Phase::tags;
  uint64_t store_id_ = 0;
  std::vector<Candidate> order_;
  int64_t listed_ = 0;  // rows up to this one
  size_t next_ = 0;     // of the order
  std::optional<uint64_t> newest_;
  uint64_t begun_ = 0, emptied_ = 0;  // the pack that is being emptied, and the one before it
  PackContents contents_;
  StoreState::Shrinking shrinking_;
};

namespace {

/// Calls `body` as the only one of all processes that trims. False: another one does.
Result<bool> alone(StoreState& state, const std::function<Result<void>()>& body) {
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
  ByteLock trimming(fd, kTrimByte);
  if (!trimming.held()) return false;
  SMELT_TRY_VOID(body());
  return true;
}

}  // namespace

Result<TrimReport> Store::trim(const TrimOptions& options) {
  StoreState& state = *state_;
  if (state.options.read_only) return fail(Errc::io, "store {}: opened read-only", state.folder.string());
  TrimReport report;
  SMELT_TRY(const bool done, alone(state, [&]() -> Result<void> {
              Trim trim(state, options);
              WorkSlice all;
              SMELT_TRY_VOID(trim.run(all));
              report = trim.report();
              return {};
            }));
  if (!done) return TrimReport{.busy = true};
  SMELT_TRY(const bool shrinks, state.ask<bool>([&]() -> Result<bool> {
    SMELT_TRY(const Database::Size size, state.database.size());
    return options.max_bytes == 0 || (!state.database.gives_back() && size.unused > size.used + kLittle);
  }));
  if (shrinks) state.shrink_tables();
  state.go_on_filling(state.options.trim_slice);
  return report;
}

Result<void> StoreState::trim_after_put(bool to_the_end) {
  std::unique_lock lock(trim_mutex, std::try_to_lock);
  if (!lock) return {};  // another thread is at it
  const auto trimmed = alone(*this, [&]() -> Result<void> {
    if (!trimming || to_the_end) trimming = std::make_shared<Trim>(*this, TrimOptions{});
    bool in_one_go = to_the_end;
    WorkSlice slice(options.trim_slice);
    if (!to_the_end) {
      const auto done = trimming->go_on(slice);
      if (done && !*done) return {};  // the next put goes on
      if (!done && done.error().code != Errc::io) return tl::unexpected(done.error());
      in_one_go = !done;  // a full disk takes run()
    }
    if (in_one_go) {
      SMELT_TRY(const bool done, trimming->run(slice));
      if (!done) return {};
    }
    // Tagged entries may be all that is left: they are not looked at again by each put.
    const uint64_t left = trimming->report().bytes_after, budget = options.max_bytes;
    trim_again_above = left > budget - budget / 20 ? left + budget / 20 : 0;
    trimming.reset();
    return {};
  });
  if (!trimmed) trimming.reset();
  trim_begun = trimming != nullptr;
  return trimmed ? Result<void>() : tl::unexpected(trimmed.error());
}

void StoreState::shrink_tables() {
  const std::lock_guard lock(mutex);
  if (!open_database()) return;
  WriterLock writer(lock_fd, writer_wait);
  if (!writer.held()) return;
  // Where another process reads, or the disk is full, it stays as large as it was, and is filled again.
  if (database.vacuum()) (void)database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  if (auto smaller = renew_index(); !smaller) warn("index", smaller.error().message);
}

Result<bool> StoreState::shrink_some(Shrinking& done, uint64_t most) {
  // What a millisecond is enough for.
  constexpr size_t kSegments = 16;
  constexpr uint64_t kPages = 64;
  return ask<bool>([&]() -> Result<bool> {
    if (!done.index_from && !done.database) {
      SMELT_TRY(const Database::Size size, database.size());
      SMELT_TRY(const TableBytes bytes, table_bytes());
      // Where all fits, a few pages stay for the next entries.
      const bool much = size.unused > size.used / 4 + kLittle;
      done.database = database.gives_back() && size.unused != 0 && (much || bytes.taken > most);
      if (!done.database) return false;
    }
    {
      const WriterLock writer(lock_fd, writer_wait);
      if (!writer.held()) return writer_is_stuck();
      if (moved()) return true;
      if (done.index_from) {
        Index* const shared = current_index_locked();
        done.index_from = shared ? shared->shrink(*done.index_from, kSegments) : std::nullopt;
        return true;
      }
      SMELT_TRY(const Database::Size before, database.size());
      SMELT_TRY(auto transaction, Transaction::begin(database));
      SMELT_TRY_VOID(database.give_back(kPages));
      SMELT_TRY_VOID(transaction.commit());
      SMELT_TRY(const Database::Size after, database.size());
      if (after.unused != 0 && after.unused < before.unused) return true;
    }
    // The file becomes shorter when the log is in it. Where another process reads, it does a little later.
    (void)database.execute("PRAGMA wal_checkpoint(PASSIVE)");
    return false;
  });
}

}  // namespace smelt::cache
