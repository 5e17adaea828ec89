// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The derived index: key -> place of the entry's record, as an mmap'd open-addressing table. Readers take no lock and
// make no system call; only the holder of the writer lock changes it. It can be deleted at any time: SQLite is the
// truth, and a slot that is wrong in any way fails the record's checksum and falls back to SQLite.
//
//   header 128 bytes: magic "SMIX", format, slot count (log2), schema version, store id, boot time, used slots,
//                    superseded, pending, hour of the last saving, boot id, where the next one goes on, counters of all
//                    processes that the database does not have yet
//   slot   64 bytes: key 32, at 40 bits and hits 24 (that the database does not have yet), check 8 (half of the
//                    record's XXH3-128), pack 4, bytes 4, state 2 bits and lead 30 bits (in 64 bytes),
//                    used 31 bits (hours) and 1 (not in the database yet)
//
// A find notes the hour of its use here, once an hour, and adds itself to the hits. Who writes or closes carries both
// and the counters over to the database, a little at a time and once round the table in an hour
// (StoreState::save_uses).
//
// The boot time makes a power cut visible: what the kernel had not written back by then is not trusted. It comes from
// two clocks, because reading the kernel's boot id costs as much as the rest of opening the index; where they disagree
// with the table, one of them was set, and the id decides. A clock that starts anew with every boot lets an old table
// through, whose wrong slots fail their checksums.
#pragma once

#include "smelt/base/digest.hpp"
#include "smelt/cache/file_layer.hpp"

#include "lost_pages.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace smelt::cache {

inline constexpr size_t kIndexCounters = 8;  ///< in StoreCounters' order

struct Place {
  uint64_t pack = 0;
  uint64_t at = 0;
  uint64_t bytes = 0;
  uint64_t check = 0;
  uint64_t lead = 0;  ///< bytes before the record that were written with it, its blobs; a hint, for reading ahead
};

class Index {
 public:
  struct Header;
  struct Slot;

  /// Maps an index that fits; null when there is none, or it is another store's, older, damaged, superseded or from
  /// before a reboot. `writable` also decides whether finds may note the hour of use.
  static std::unique_ptr<Index> open(const std::string& path, bool writable);
  /// The table at `path` that open() refuses, for two things: to tell those who still have it mapped that it is not the
  /// one any more (make it before the file is replaced, supersede() it afterwards), and for its hours and counters,
  /// which are empty unless it has today's layout.
  static std::unique_ptr<Index> open_outdated(const std::string& path);
  /// Writes a new table, pending, and renames it into place; readers of the old one see that it is superseded.
  static Result<std::unique_ptr<Index>> create(const std::string& path, uint64_t store_id, uint64_t entries,
                                               FileLayer& files);
  ~Index();

  /// Notes the hour, and one more hit.
  std::optional<Place> find(const Digest& key, uint32_t hour);
  bool has(const Digest& key) const;
  /// Whether the key is there, at that place; notes the hour.
  bool has_at(const Digest& key, const Place& place, uint32_t hour);
  uint32_t hour_of(const Digest& key) const;  ///< hour of last use, 0 when unknown or in the future
  uint32_t hits_of(const Digest& key) const;  ///< since they were last saved
  std::array<uint64_t, kIndexCounters> counters() const;
  void add_counters(const std::array<uint64_t, kIndexCounters>& values);
  void reset_counters();
  bool superseded() const;
  void supersede();
  /// A page of it could not be read: it holds nothing more, and what is put in goes to nobody. Make another.
  bool lost() const { return pages_ && pages_->lost(); }
  /// Whether a key that is not here is in no committed entry either. Ask after the lookup.
  bool complete() const;
  uint64_t store_id() const;

  // The rest under the writer lock only.
  /// Set before a transaction that may change entries, cleared when the table has followed it. One that finds it set
  /// knows that a writer died or failed in between.
  bool pending() const;
  void set_pending(bool pending);
  /// False when the table is too full: create a larger one.
  bool insert(const Digest& key, const Place& place, uint32_t hour, bool saved = true, uint32_t hits = 0);
  void erase(const Digest& key);
  /// A larger one in place of this, with all that this has: nothing is looked up, but finds of this moment may not be
  /// counted. Not when it is lost, or did not follow the last commit.
  Result<std::unique_ptr<Index>> grow(const std::string& path, FileLayer& files);
  /// Bytes of the slots that were ever taken.
  uint64_t used_bytes() const;

  /// What the database does not know yet.
  struct Unsaved {
    struct Use {
      Digest key;
      uint32_t hour;
      uint32_t hits;
    };
    std::vector<Use> uses;
    std::array<uint64_t, kIndexCounters> counters{};  ///< at the end of a round
  };
  /// Whether this hour's round through the table is not finished.
  bool save_due(uint32_t hour) const;
  /// Goes on with the round: looks at up to `slots` slots and stops after `uses` finds.
  Unsaved next_unsaved(uint32_t hour, size_t slots, size_t uses);
  /// After the database has them.
  void set_saved(const Unsaved& what);

 private:
  Index() = default;
  static std::unique_ptr<Index> map(const std::string& path, bool writable);
  Slot* locate(const Digest& key) const;
  void use(Slot& slot, uint32_t hour);
  Header* header_ = nullptr;
  Slot* slots_ = nullptr;
  uint64_t mask_ = 0;
  uint64_t mapped_ = 0;
  bool writable_ = false;
  std::optional<LostPages> pages_;
};

uint32_t current_hour();

}  // namespace smelt::cache
