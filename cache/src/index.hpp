// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The derived index: key -> place of the entry's record, as a hash table in segments, in one shared mapping. Readers
// take no lock and make no system call; only the holder of the writer lock changes it. It can be deleted at any time:
// SQLite is the truth, and a slot that is wrong in any way fails the record's checksum and falls back to SQLite.
//
//   segment 0    the head: 256 bytes, directories of up to 2^11 cells, each at 256 + 8 * cells, where the filters are,
//                and the noted keys
//   others       64 KB each. One of slots: a slot that is never empty (what the segment is, how many of its slots were
//                taken, how many keys its filter has, the next free segment), then 1023 for keys. Larger directories
//                have segments of their own, and one is the filters of 64 others
//   head         magic "SMIX", format, segments in use, schema version, store id, boot time, free segments, superseded,
//                noted keys, hour of the last saving, boot id, where the next one goes on, counters of all processes
//                that the database does not have yet, state, directory, row up to which it is filled, first free
//                segment, version of the next cell
//   directory    8 bytes for each 2^-depth of all hashes: segment 4, version 2, check 2
//   slot         64 bytes: key 32, at 40 bits and hits 24 (that the database does not have yet), check 8 (half of the
//                record's XXH3-128), pack 4, bytes 4, state 2 bits and lead 30 bits (in 64 bytes),
//                used 31 bits (hours) and 1 (not in the database yet)
//
// A segment that is full is copied to two others, and then the directory's cells are changed: a put moves the slots of
// one segment, however many entries there are, and a reader sees a key in the one or in the other. The old segment is
// used again later. A reader that was in it meanwhile finds nothing there, or another's slot, which fails its check;
// before it says that a key is not there, it looks whether the cell still is what it was. A trim merges segments in the
// same way. What is free then goes back to the disk but for a page, which says what it is: the file is as long as
// before, since others have it mapped.
//
// A key that a large table does not have costs a cache line, not a search through 64 KB that no cache holds: each
// segment has a filter of 1 KB, and 64 filters lie together. Each key sets four bits of one word. A word's highest bit
// says that there is a filter: zeros that damage made hide nothing. What is erased leaves its bits until the filter is
// made again.
//
// A writer notes the keys of its transaction before it changes anything: who finds that one has died looks them up in
// the database, and no others. A new table is filled from the database in steps, by whoever misses a key or writes.
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
#include <limits>
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
  /// Writes a new table without keys, to be filled, and renames it into place.
  static Result<std::unique_ptr<Index>> create(const std::string& path, uint64_t store_id, FileLayer& files);
  ~Index();

  struct Found {
    std::optional<Place> place;
    bool absent = false;  ///< no committed entry has that key
  };
  /// Notes the hour, and one more hit.
  Found find(const Digest& key, uint32_t hour);
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
  /// A part of it could not be read or makes no sense: what is put in goes to nobody. Make another.
  bool lost() const { return broken_.load(std::memory_order_relaxed) || (pages_ && pages_->lost()); }
  /// It grew past what this process has mapped of it: map it again.
  bool outgrown() const;
  /// Not yet all that the database has.
  bool filling() const;
  uint64_t store_id() const;

  // The rest under the writer lock only.
  /// Set before a transaction that may change entries, cleared when the table has followed it. One that finds it set
  /// knows that a writer died or failed in between. Setting it forgets the noted keys.
  bool pending() const;
  void set_pending(bool pending);
  /// A key that the transaction may change, before it does.
  void note(const Digest& key);
  /// The keys that were noted; none when they were too many.
  std::optional<std::vector<Digest>> noted() const;
  /// The table is mended after a dead writer: finds that began before do not say that a key is absent.
  void set_mended();
  /// False: no room for it, on the disk or in what is mapped.
  bool insert(const Digest& key, const Place& place, uint32_t hour, bool saved = true, uint32_t hits = 0);
  /// Notes the key, too.
  void erase(const Digest& key);
  static constexpr int64_t kFilled = std::numeric_limits<int64_t>::max();
  int64_t filled() const;  ///< rows up to this one are here
  void set_filled(int64_t row);
  uint64_t used_bytes() const;
  /// At most so many are used once it is shrunk.
  uint64_t needed_bytes() const;
  /// Merges segments that have few keys and gives their room back to the disk. Looks at some of them, from the first
  /// hash on. Where to go on; none at the end.
  std::optional<uint64_t> shrink(uint64_t from, size_t segments);

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
  static std::unique_ptr<Index> map(int fd, uint64_t bytes, bool writable);
  struct Looked {
    Slot* slot = nullptr;
    bool sure = false;  ///< when there is none: the table was whole and did not change under us
  };
  struct Directory {
    std::atomic<uint64_t>* cells = nullptr;
    uint32_t depth = 0;
  };
  enum class By : uint8_t { filter, slots };
  /// By the slots: a key that a damaged filter hides is there, too.
  Looked look(const Digest& key, By by) const;
  Slot* locate(const Digest& key) const { return look(key, By::slots).slot; }
  /// The 128 words of a segment's filter; null when there are none.
  std::atomic<uint64_t>* filter(uint64_t number) const;
  bool may_have(uint64_t number, uint64_t hash) const;
  Directory directory(uint64_t word) const;
  Slot* segment(uint64_t cell) const;
  Slot* slots_at(uint64_t number) const;
  void use(Slot& slot, uint32_t hour);
  void broken() const { broken_.store(true, std::memory_order_relaxed); }
  // Under the writer lock.
  uint64_t allocate(uint64_t count);
  uint64_t new_segment();
  void set_free(uint64_t number);
  uint64_t first_of(uint32_t list, uint64_t magic) const;
  void give_back();
  bool grow_directory();
  bool split(uint64_t hash);
  bool merge(const Directory& directory, uint64_t first, uint64_t count);
  void copy_slots(const Slot* from, Slot* to, const std::vector<uint64_t>& cells, const Directory& directory);
  /// Its slots are in: cells lead there.
  void publish(uint64_t number, const std::vector<uint64_t>& cells, const Directory& directory);
  void set_dead(Slot& slot);
  /// Of the live slots, nothing else; the words may be read meanwhile.
  void make_filter(uint64_t number);
  void add_to_filter(uint64_t number, uint64_t hash);
  uint64_t new_cell(uint64_t number);

  Header* header_ = nullptr;
  std::byte* base_ = nullptr;
  uint64_t mapped_ = 0, mapped_segments_ = 0;
  int fd_ = -1;  // to make it larger
  bool readable_ = false, writable_ = false;
  mutable std::atomic<bool> broken_{false};
  std::optional<LostPages> pages_;
};

uint32_t current_hour();

}  // namespace smelt::cache
