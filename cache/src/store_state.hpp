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

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
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
  uint64_t held = 0;  // of memory
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
    size_t done = 0;  // of the blobs, then of the entries: moved
  };
  uint64_t store_id = 0;
  std::map<uint64_t, Rows> sealed;        // by pack, the empty ones too
  int64_t last_blob = 0, last_entry = 0;  // rows that were read
  bool complete = false;
};

/// How much of a long piece of work is done in one go: all of it, or what takes so long. However slow the machine is,
/// what should take so long is done, so that work which comes again and again ends.
class WorkSlice {
 public:
  WorkSlice() = default;
  explicit WorkSlice(std::chrono::microseconds most) : most_(most), until_(std::chrono::steady_clock::now() + most) {}
  /// After each piece, with what it takes where nobody else works.
  void add(std::chrono::microseconds planned) { planned_ += planned; }
  bool is_over() const { return most_ && planned_ >= *most_ && std::chrono::steady_clock::now() >= until_; }

 private:
  std::optional<std::chrono::microseconds> most_;  // none: to the end
  std::chrono::microseconds planned_{0};
  std::chrono::steady_clock::time_point until_;
};

class Trim;

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
  Result<void> open_database_locked();              ///< likewise, under the writer lock (unless read-only)
  Result<std::string> set_aside(const Error& why);  ///< its name now
  void remove_set_aside();
  /// Under the writer lock, so that nobody is making one of them.
  void remove_debris();
  /// The bytes of the database and the index, as far as they count in the budget: a small store's do not.
  struct TableBytes {
    uint64_t taken = 0;   ///< on the disk
    uint64_t needed = 0;  ///< once what is free has been given back
  };
  Result<TableBytes> table_bytes();
  Result<void> make_anew(const Error& why, const std::string& aside);
  /// After an operation said that the database is damaged: makes it anew, unless somebody else has. Under `mutex`.
  Result<void> recover(const Error& why);
  tl::unexpected<Error> writer_is_stuck() const;
  /// Looks something up in the database, under `mutex`; a damaged one is made anew and asked again.
  template <class T>
  Result<T> ask(const std::function<Result<T>()>& body) {
    std::lock_guard lock(mutex);
    SMELT_TRY_VOID(open_database());
    auto answer = body();
    if (answer || answer.error().code != Errc::store_corrupt || options.read_only) return answer;
    SMELT_TRY_VOID(recover(answer.error()));
    SMELT_TRY_VOID(open_database());
    return body();
  }
  void warn(std::string_view kind, std::string_view message);
  void count(Counter counter, uint64_t by = 1) { counted[counter].fetch_add(by, std::memory_order_relaxed); }

  // find.cpp
  enum class Loaded { ok, gone, damaged };
  /// From the table of entries that this process has seen, else from the packs.
  Loaded load(const Digest& key, const Place& place, std::optional<Entry>& entry,
              const std::shared_ptr<BulkRead>& bulk = nullptr);
  /// From the bulk's bytes, or the packs; checked.
  Loaded read(const Digest& key, const Place& place, EntryData& data, const std::shared_ptr<BulkRead>& bulk = nullptr);
  /// What lies there now, if it is whole; noted nowhere.
  std::optional<Entry> look(const Digest& key, const Place& place);
  std::shared_ptr<const EntryData> seen_at(const Place& place);
  void forget_seen();
  /// Keeps what a find may return again, without the packs being read.
  void remember(const Place& place, std::shared_ptr<const EntryData> data);
  Result<std::optional<Place>> place_in_database(const Digest& key);
  /// Drops a damaged entry and those that share its damaged blobs, so that a new put writes fresh bytes. How many.
  Result<uint64_t> drop_damaged(const Digest& key);
  /// Drops the entries that share the blob, and the blob, in the caller's transaction; not `but`, which the caller
  /// drops. How many.
  Result<uint64_t> drop_damaged(const BlobRow& blob, int64_t but = 0);

  // rebuild.cpp
  /// Fills the new database from the packs and the one that was set aside. Under the writer lock. How many entries.
  Result<uint64_t> rebuild_database(const std::string& aside);

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
  // The next ones under `mutex` and the writer lock.
  Result<void> insert_index(const Published& entry);
  Result<void> make_index();   ///< takes the one that is there, or makes an empty one
  Result<void> renew_index();  ///< makes an empty one, to be filled
  Result<void> fill_index();   ///< with a few rows more
  Result<void> mend_index();   ///< after a writer that died, before anything else is written
  /// Fills it for as long as that, if it is not full, nobody writes and the database is to be had.
  void go_on_filling(std::chrono::microseconds most);

  // write.cpp: under `mutex`, the writer lock and a transaction
  struct Append {
    uint64_t pack = 0, at = 0;
  };
  Result<Append> append(ByteView bytes);
  /// Into the open pack's row goes what append() has added. At the end of each transaction, or before that row is read.
  Result<void> keep_tail();
  /// A record that no row leads to once the transaction has committed; it is marked then.
  struct Lost {
    uint64_t pack = 0, at = 0;
  };
  /// Deletes the row of an entry and of blobs nobody else uses; the index slot goes first.
  Result<void> delete_entry(const EntryRow& row);
  /// Its record is to be marked as dead, if it is there.
  void mark_lost(const EntryRow& row);
  /// Those of the blobs that no entry uses.
  Result<void> drop_unused(const std::vector<BlobRow>& blobs);
  /// Carries hours of use and counters from the index to the tables; Index::set_saved follows the commit.
  Result<Index::Unsaved> save_uses(size_t slots, size_t uses);

  // move_pack.cpp
  /// Moves what lives in a sealed pack elsewhere and removes it, in transactions of its own. Reads the tables when
  /// `contents` has not that pack: keep it from one pack to the next. False: the slice is over, call it again.
  Result<bool> empty_pack(uint64_t pack, PackContents& contents, WorkSlice& slice);
  /// Goes on with reading them, and keeps no writer of another process waiting. True: all is read.
  Result<bool> read_contents(PackContents& contents, WorkSlice& slice);

  // trim.cpp
  /// After a put that passed the budget: goes on with a trim for a few milliseconds, or to the end.
  Result<void> trim_after_put(bool to_the_end);
  /// Gives back what the database and the index no longer need: at once, while other writers wait;
  void shrink_tables();
  /// or a millisecond's worth of it, until the tables take `most` bytes. False: nothing more is to be had.
  struct Shrinking {
    std::optional<uint64_t> index_from = 0;  ///< hash; none: the index is done
    bool database = false;                   ///< has begun
  };
  Result<bool> shrink_some(Shrinking& done, uint64_t most);

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

  std::timed_mutex mutex;  // database, writer side, index replacement
  WriterWait writer_wait;
  Database database;
  Tables tables{database};
  /// The open pack as this transaction has left it, once it has appended.
  struct Tail {
    uint64_t pack = 0, bytes = 0;
    uint64_t added = 0;  // what its row has not
    uint64_t from = 0;   // where this transaction's begin
  };
  std::optional<Tail> tail;
  std::vector<Lost> lost;  ///< by this transaction
  RecordSecret secret{};   ///< from when the database is open for writing
  int rebuilt = 0;         ///< times, by this process
  uint64_t store_id = 0;
  bool is_open = false;  // Store::open() came to its end
  Inode folder_inode;
  std::optional<Inode> database_inode;  // until SQLite has it open
  std::atomic<int64_t> ground_looked_at{0};
  std::set<std::string, std::less<>> warned;

  std::mutex trim_mutex;
  std::shared_ptr<Trim> trimming;             // begun by a put, and not at its end
  std::atomic<bool> trim_begun{false};        // there is one; for who does not hold the mutex
  std::atomic<uint64_t> trim_again_above{0};  // bytes: what tagged entries keep is not looked at by each put

  std::atomic<Index*> index{nullptr};
  bool index_lost = false;      // a page of it: the next writer makes another
  Index* hours_from = nullptr;  // the one before, while the new one is filled
  struct FilledTo {
    uint64_t pack = 0, end = 0;
  };
  FilledTo filled_to;                           // the last record that went in from the rows
  std::vector<std::unique_ptr<Index>> indexes;  // replaced ones stay mapped: a find may be in the middle of one

  // Entries seen, by place, as long as somebody holds them: a user, or `newest_seen`. A place never gets
  // other bytes, so the index decides what is current and this only saves reading them again.
  std::shared_mutex seen_mutex;
  std::unordered_map<uint64_t, std::weak_ptr<const EntryData>> seen;
  std::deque<std::shared_ptr<const EntryData>> newest_seen;
  uint64_t newest_seen_bytes = 0;

  std::array<std::atomic<uint64_t>, kIndexCounters> counted{};
};

}  // namespace smelt::cache
