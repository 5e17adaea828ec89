// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The database as typed rows: a class for each table of schema/store/current.sql, and all SQL but the schema's.
//
// Each call runs its statement to the end before it returns, so that calls may be nested in loops over their results.
// Used under the store's mutex; what changes rows, in a write transaction.
#pragma once

#include "smelt/cache/store.hpp"

#include "database.hpp"
#include "index.hpp"
#include "record.hpp"

#include <set>

namespace smelt::cache {

/// The row of an entry or a blob, and a pack in which bytes of it lie.
struct InPack {
  int64_t id = 0;
  uint64_t pack = 0;
  auto columns() { return std::tie(id, pack); }
};

/// The next rows of a table. Those whose values are not of their types are only counted.
template <class Row>
struct Piece {
  std::vector<Row> rows;
  size_t unreadable = 0;
  int64_t last = 0;  ///< the next piece begins after it
  bool at_end = false;
};

/// An entry, and where its record lies.
struct EntryRow {
  int64_t id = 0;
  Digest key;
  uint64_t pack = 0, at = 0, bytes = 0;
  Checksum sum{};
  uint64_t size = 0;       ///< of all parts, as their users see them
  uint64_t created = 0;    ///< seconds since 1970
  uint64_t used_hour = 0;  ///< hours since 1970
  uint64_t cost_us = 0;
  uint64_t hits = 0;  ///< finds, those aside that only the index has
  auto columns() { return std::tie(id, key, pack, at, bytes, sum, size, created, used_hour, cost_us, hits); }
  Place place() const { return {pack, at, bytes, half(sum)}; }
};

class EntryTable {
 public:
  explicit EntryTable(Database& database) : database_(database) {}
  Result<std::optional<EntryRow>> find(const Digest& key);
  Result<std::optional<Place>> place_of(const Digest& key);
  Result<std::vector<EntryRow>> all();  ///< by key
  /// The next of them, by number or by key: a table of any length in pieces. Ascending, or else it is damage.
  Result<std::vector<EntryRow>> after(int64_t id, size_t most);
  Result<Piece<EntryRow>> piece_after(int64_t id, size_t most);                        ///< with damaged rows among them
  Result<std::vector<EntryRow>> after(const std::optional<Digest>& key, size_t most);  ///< none: from the first
  /// The rows that can be read of a damaged table, each perhaps twice; they are held to nothing.
  std::vector<EntryRow> salvage();
  Result<std::vector<EntryRow>> users_of(int64_t blob);
  Result<std::optional<EntryRow>> at(int64_t id);
  // No index by pack is worth a page of each put: these read the table, once in a trim, not once in a pack.
  Result<std::vector<InPack>> packs_after(int64_t id, size_t most);  ///< of the records
  Result<std::vector<InPack>> blob_packs();                          ///< of the entries' blobs, whole
  Result<uint64_t> count();
  Result<uint64_t> total_size();
  Result<uint64_t> tagged_size();               ///< bytes in packs that tagged entries hold on to, records and blobs
  Result<int64_t> insert(const EntryRow& row);  ///< but the id, which is returned
  Result<void> update(const EntryRow& row);     ///< all but the id, the key and the hits
  Result<void> used(const Digest& key, uint32_t hour, uint32_t hits);
  Result<void> erase(int64_t id);

 private:
  Database& database_;
};

/// Stored bytes that entries share, and which entry uses which.
struct BlobRow {
  int64_t id = 0;
  Digest sha;
  uint64_t pack = 0, at = 0, stored = 0, raw = 0;
  uint8_t codec = 0;
  Checksum sum{};
  auto columns() { return std::tie(id, sha, pack, at, stored, raw, codec, sum); }
  /// Its sizes are those of its codec: bytes are compressed only where that makes them shorter (put.cpp).
  bool has_sizes_of_codec() const { return codec == kCodecRaw ? stored == raw : codec == kCodecZstd && stored < raw; }
};

class BlobTable {
 public:
  explicit BlobTable(Database& database) : database_(database) {}
  Result<std::optional<BlobRow>> find(const Digest& sha);
  Result<std::optional<BlobRow>> at(int64_t id);
  Result<std::vector<InPack>> packs_after(int64_t id, size_t most);
  Result<std::vector<BlobRow>> of_entry(int64_t entry);
  Result<Piece<BlobRow>> piece_after(int64_t id, size_t most);  ///< with damaged rows among them
  Result<uint64_t> count();
  Result<int64_t> insert(const BlobRow& row);
  Result<void> move(int64_t id, uint64_t pack, uint64_t at);
  Result<void> erase(int64_t id);
  Result<bool> is_used(int64_t id);
  Result<void> link(int64_t entry, int64_t blob);
  Result<void> unlink_all(int64_t entry);

 private:
  Database& database_;
};

struct PackRow {
  uint64_t id = 0;
  bool sealed = false;
  uint64_t bytes = 0;  ///< committed
  uint64_t live = 0;   ///< still referenced
  auto columns() { return std::tie(id, sealed, bytes, live); }
};

class PackTable {
 public:
  explicit PackTable(Database& database) : database_(database) {}
  Result<std::optional<PackRow>> open();  ///< where bytes are appended; always the newest, if any
  Result<std::vector<PackRow>> all();
  Result<bool> has(uint64_t id);
  Result<uint64_t> newest();  ///< 0 when there is none
  Result<uint64_t> total_bytes();
  Result<void> insert(uint64_t id);
  Result<void> grow(uint64_t id, uint64_t committed, uint64_t by);
  Result<void> give_back(uint64_t id, uint64_t live);
  Result<void> seal(uint64_t id);
  Result<void> erase(uint64_t id);

 private:
  Database& database_;
};

struct TagRow : TagInfo {
  int64_t id = 0;
  Bytes sum;          // none in a store of an older smelt
  bool past = false;  ///< it points elsewhere since; the sum says so, so that no older row is taken for the newest
  auto columns() { return std::tie(id, name, version, key, moved, sum); }
  Checksum checksum(bool of_past) const;
  /// Sets `past`. False: the row is not as it was written.
  bool settle();
};

/// A row for each time a tag was set; the newest says where it points.
class TagTable {
 public:
  explicit TagTable(Database& database) : database_(database) {}
  Result<std::vector<TagRow>> all();  ///< oldest first
  std::vector<TagRow> salvage();      ///< the rows of a damaged table that are as they were written, oldest first
  Result<std::set<Digest>> keys();    ///< that a tag points to or pointed to
  Result<std::optional<TagRow>> find(std::string_view name, std::string_view version);
  Result<std::vector<TagInfo>> newest(std::string_view name);                             ///< of all names when empty
  Result<std::vector<TagInfo>> history(std::string_view name, std::string_view version);  ///< newest first
  Result<void> insert(TagRow row);                                                        ///< its number is the next
  Result<void> leave(const TagRow& row);  ///< another row is about to follow it
  Result<void> clear();

 private:
  const char* select_all() const;
  Database& database_;
};

/// Totals over all processes: a row for each of StoreCounters, by its number.
class CounterTable {
 public:
  explicit CounterTable(Database& database) : database_(database) {}
  Result<std::array<uint64_t, kIndexCounters>> all();
  Result<void> add(const std::array<uint64_t, kIndexCounters>& values);
  Result<void> clear();

 private:
  Database& database_;
};

struct Tables {
  explicit Tables(Database& database)
      : entry(database), blob(database), pack(database), tag(database), counter(database) {}
  EntryTable entry;
  BlobTable blob;
  PackTable pack;
  TagTable tag;
  CounterTable counter;
};

}  // namespace smelt::cache
