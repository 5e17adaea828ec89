// What a Store holds; shared by the files that implement it (store, find, put, trim, verify, tags).
#pragma once

#include "smelt/cache/store.hpp"

#include "burst.hpp"
#include "database.hpp"
#include "index.hpp"
#include "locks.hpp"
#include "packs.hpp"
#include "record.hpp"

#include <functional>
#include <mutex>
#include <set>

namespace smelt::cache {

/// What an Entry stands on.
struct EntryData {
  struct Check {
    ByteView stored;
    Checksum sum;
  };
  std::vector<Entry::Part> parts;
  std::vector<Check> checks;  // of the blobs
  std::vector<std::shared_ptr<const void>> owners;
  uint64_t bytes = 0;
  uint64_t cost_us = 0;
};

enum Counter : size_t { kHits, kMisses, kPuts, kDamaged, kEvicted, kBytesRead, kBytesWritten, kMicrosecondsSaved };

struct StoreState {
  StoreState(std::filesystem::path where, StoreOptions wanted);
  ~StoreState();

  // store.cpp: opening
  Result<void> check_folder();       ///< there, ours, and nobody else's to write
  Result<void> check_file_system();  ///< local and writable
  /// The packs folder and the lock file; nothing when read-only. Under `mutex`, first thing of open_database().
  Result<void> prepare_to_write();
  /// Opens the database if it is not yet, sets a damaged one aside. Under `mutex`, without the writer
  /// lock (it takes it).
  Result<void> open_database();
  Result<void> set_aside(const Error& why);
  /// After an operation said that the database is damaged: sets it aside if a fresh look says so too. Under `mutex`.
  Result<void> recover(const Error& why);
  void warn(std::string_view kind, std::string_view message);
  void count(Counter counter, uint64_t by = 1) { counted[counter].fetch_add(by, std::memory_order_relaxed); }

  // find.cpp
  enum class Loaded { ok, gone, damaged };
  /// From the table of entries that this process has seen, else from the packs.
  Loaded load(const Digest& key, const Place& place, std::optional<Entry>& entry,
              const std::shared_ptr<Burst>& burst = nullptr);
  /// From the burst's bytes, which are checked each time, or the mapped packs.
  Loaded read(const Digest& key, const Place& place, EntryData& data, bool check_again,
              const std::shared_ptr<Burst>& burst = nullptr);
  std::shared_ptr<const EntryData> seen_at(const Place& place);
  void forget_pack(uint64_t pack);
  std::optional<ByteView> view(uint64_t pack, uint64_t at, uint64_t bytes, std::shared_ptr<MappedPack>& owner);
  /// Keeps what a find may return again, without the packs being read.
  void remember(const Place& place, std::shared_ptr<const EntryData> data);
  Result<std::optional<Place>> place_in_database(const Digest& key);
  Result<std::optional<Place>> place_in_open_database(const Digest& key);  ///< under `mutex`
  /// Drops a damaged entry and those that share its damaged blobs, so that a new put writes fresh bytes.
  Result<void> drop_damaged(const Digest& key);
  Index* current_index();         ///< null when there is none
  Index* current_index_locked();  ///< the same under `mutex`; looks for one that somebody else has made

  // put.cpp: under `mutex`, the writer lock and a transaction
  struct Append {
    uint64_t pack = 0, at = 0;
  };
  Result<Append> append(ByteView bytes);
  /// Deletes rows of an entry and of blobs nobody else uses; the index slot goes first.
  Result<void> delete_entry(int64_t id, const Digest& key);
  Result<void> insert_index(const Digest& key, const Place& place, uint32_t hour);
  Result<void> rebuild_index();
  Result<uint64_t> total_pack_bytes();

  /// Runs `body` under the mutex and the writer lock, in one transaction; a database found damaged is set aside.
  /// `after` runs once the transaction has committed, still under the lock; it puts new entries in the index.
  Result<void> write(
      const std::function<Result<void>()>& body,
      const std::function<Result<void>()>& after = [] { return Result<void>(); });

  std::filesystem::path folder;
  StoreOptions options;
  FileLayer* files;
  Packs packs;
  int lock_fd = -1;

  std::mutex mutex;  // database, writer side, index replacement
  Database database;
  uint64_t store_id = 0;
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
