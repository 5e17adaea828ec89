// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a Store holds; shared by the files that implement it (store, find, put, trim, verify, tags).
#pragma once

#include "smelt/cache/store.hpp"

#include "bulk_read.hpp"
#include "database.hpp"
#include "index.hpp"
#include "locks.hpp"
#include "packs.hpp"
#include "record.hpp"
#include "store_folder.hpp"
#include "tables.hpp"

#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

namespace smelt::cache {

/// What an Entry stands on.
struct EntryData {
  struct Check {
    ByteView stored;
    Checksum sum;
  };
  std::vector<Entry::Part> parts;
  std::vector<Check> checks;  // of the blobs
  uint64_t check = 0;         // the place's
  std::vector<std::shared_ptr<const void>> owners;
  uint64_t bytes = 0;
  uint64_t cost_us = 0;
  signing::Provenance origin = signing::Provenance::unknown();  // until the record says
};

constexpr int kAttempts = 5;                 ///< of a call under which the folder is replaced each time
constexpr int64_t kGroundMilliseconds = 20;  ///< between two looks whether the folder is still the same one

constexpr int64_t kReserveBytes = 1 << 20;

enum Counter : size_t { kHits, kMisses, kPuts, kDamaged, kEvicted, kBytesRead, kBytesWritten, kMicrosecondsSaved };

/// Which rows have bytes in which sealed pack, as a reading of the tables found it. Nothing is added to a sealed pack,
/// so that rows may have left it since, but none that is not here has come.
struct PackContents {
  struct Rows {
    std::vector<int64_t> blobs, entries;
  };
  uint64_t store_id = 0;
  std::map<uint64_t, Rows> sealed;  // by pack, the empty ones too
};

struct StoreState {
  StoreState(std::filesystem::path where, StoreOptions wanted);
  ~StoreState();

  // store.cpp: opening
  Result<Inode> check_folder();      ///< there, and nobody else's to write
  Result<void> check_file_system();  ///< local and writable
  Result<void> take_ground();        ///< the folder is a store or becomes one
  // Under `mutex`: the folder, its database or its lock file may be deleted or replaced while we have them open.
  bool moved() const;
  /// If so, opens what is there now. Not under the writer lock: it may be the lock of a file that is gone.
  Result<void> keep_ground();
  /// The same for lookups: looks only now and then, and not under `mutex`. True: what the index said is void.
  bool ground_changed();
  /// The packs folder and the lock file; nothing when read-only. Under `mutex`, first thing of open_database().
  Result<void> prepare_to_write();
  /// A file that nobody maps or reads, for the day when the disk is full: its bytes are the log of the transactions
  /// that remove others. Made again when there is room.
  void keep_reserve();
  /// Lets these bytes go, and what the log takes.
  void give_up_reserve();
  /// Opens the database if it is not yet, sets a damaged one aside. Under `mutex`, without the writer
  /// lock (it takes it).
  Result<void> open_database();
  Result<void> open_database_locked();  ///< likewise, under the writer lock (unless read-only)
  Result<void> set_aside(const Error& why);
  /// After an operation said that the database is damaged: sets it aside if a fresh look says so too. Under `mutex`.
  Result<void> recover(const Error& why);
  void warn(std::string_view kind, std::string_view message);
  void count(Counter counter, uint64_t by = 1) { counted[counter].fetch_add(by, std::memory_order_relaxed); }

  // find.cpp
  enum class Loaded { ok, gone, damaged };
  /// From the table of entries that this process has seen, else from the packs.
  Loaded load(const Digest& key, const Place& place, std::optional<Entry>& entry,
              const std::shared_ptr<BulkRead>& bulk = nullptr);
  /// From the bulk's bytes, which are checked each time, or the mapped packs.
  Loaded read(const Digest& key, const Place& place, EntryData& data, bool check_again,
              const std::shared_ptr<BulkRead>& bulk = nullptr);
  /// What lies there now, if it is whole; noted nowhere.
  std::optional<Entry> look(const Digest& key, const Place& place);
  std::shared_ptr<const EntryData> seen_at(const Place& place);
  void forget_pack(uint64_t pack);
  std::optional<ByteView> view(uint64_t pack, uint64_t at, uint64_t bytes, std::shared_ptr<MappedPack>& owner);
  /// Keeps what a find may return again, without the packs being read.
  void remember(const Place& place, std::shared_ptr<const EntryData> data);
  Result<std::optional<Place>> place_in_database(const Digest& key);
  /// Drops a damaged entry and those that share its damaged blobs, so that a new put writes fresh bytes. How many.
  Result<uint64_t> drop_damaged(const Digest& key);

  // follow_index.cpp
  Index* current_index();         ///< null when there is none
  Index* current_index_locked();  ///< the same under `mutex`; looks for one that somebody else has made
  Index* use_index(std::unique_ptr<Index> opened);
  /// An entry that the database has, for the index.
  struct Published {
    Digest key;
    Place place;
    uint32_t hour = 0;       ///< of its last use
    bool hour_saved = true;  ///< the database has that hour too
    uint32_t hits = 0;       ///< that the database does not have
  };
  // These two under `mutex` and the writer lock.
  Result<void> insert_index(const Published& entry);
  Result<void> rebuild_index();

  // write.cpp: under `mutex`, the writer lock and a transaction
  struct Append {
    uint64_t pack = 0, at = 0;
  };
  Result<Append> append(ByteView bytes);
  /// Into the open pack's row goes what append() has added. At the end of each transaction, or before that row is read.
  Result<void> keep_tail();
  /// Deletes the row of an entry and of blobs nobody else uses; the index slot goes first.
  Result<void> delete_entry(const EntryRow& row);
  /// Those of the blobs that no entry uses.
  Result<void> drop_unused(const std::vector<BlobRow>& blobs);
  /// Carries hours of use and counters from the index to the tables; Index::set_saved follows the commit.
  Result<Index::Unsaved> save_uses(size_t slots, size_t uses);

  // move_pack.cpp
  /// Moves what lives in a sealed pack elsewhere and removes it, in transactions of its own. Reads the tables when
  /// `contents` has not that pack: keep it from one pack to the next.
  Result<void> empty_pack(uint64_t pack, PackContents& contents);
  /// Keeps no writer of another process waiting.
  Result<PackContents> read_contents();

  /// Runs `body` under the mutex and the writer lock, in one transaction; a database found damaged is set aside.
  /// `after` runs once the transaction has committed, still under the lock; it puts new entries in the index.
  Result<void> write(
      const std::function<Result<void>()>& body,
      const std::function<Result<void>()>& after = [] { return Result<void>(); });

  /// Hands over what this process has counted, and once an hour saves what all have. Opens the database for nothing
  /// else, and waits for nobody.
  Result<void> close();

  /// Closes the database, which no forked child may inherit open. Under `mutex`.
  void before_fork();

  std::filesystem::path folder;
  StoreOptions options;
  FileLayer* files;
  Packs packs;
  int lock_fd = -1;
  std::optional<Inode> lock_inode;  // of lock_fd

  std::timed_mutex mutex;                                       // database, writer side, index replacement
  int64_t contended = std::numeric_limits<int64_t>::min() / 2;  // WriterLock's
  Database database;
  Tables tables{database};
  /// The open pack as this transaction has left it, once it has appended.
  struct Tail {
    uint64_t pack = 0, bytes = 0;
    uint64_t added = 0;  // what its row has not
  };
  std::optional<Tail> tail;
  uint64_t store_id = 0;
  bool is_open = false;  // Store::open() came to its end
  Inode folder_inode;
  std::optional<Inode> database_inode;  // until SQLite has it open
  std::atomic<int64_t> ground_looked_at{0};
  std::set<std::string, std::less<>> warned;

  std::atomic<Index*> index{nullptr};
  std::vector<std::unique_ptr<Index>> indexes;  // replaced ones stay mapped: a find may be in the middle of one

  // Entries seen, by place. A place never gets other bytes, so the index decides what is current and this only saves
  // reading the record again.
  std::shared_mutex seen_mutex;
  std::unordered_map<uint64_t, std::shared_ptr<const EntryData>> seen;

  std::array<std::atomic<uint64_t>, kIndexCounters> counted{};
};

}  // namespace smelt::cache
