// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tables.hpp"

#include <charconv>

namespace smelt::cache {
namespace {

// In the order of the rows' columns().
#define SMELT_ENTRY "SELECT id,key,pack,at,bytes,xxh,size,created,used,cost_us,hits FROM entry "
#define SMELT_BLOB "SELECT id,sha256,pack,at,stored,raw,codec,xxh FROM blob "
#define SMELT_PACK "SELECT id,state,bytes,max(live,0) FROM pack "

struct PlaceColumns {
  uint64_t pack = 0, at = 0, bytes = 0;
  Checksum sum{};
  auto columns() { return std::tie(pack, at, bytes, sum); }
};

struct TagColumns : TagInfo {
  auto columns() { return std::tie(name, version, key, moved); }
};

Result<std::vector<TagInfo>> tags(Result<std::vector<TagColumns>> rows) {
  SMELT_TRY(const auto found, std::move(rows));
  return std::vector<TagInfo>(found.begin(), found.end());
}

}  // namespace

Result<std::optional<EntryRow>> EntryTable::find(const Digest& key) {
  return database_.first<EntryRow>(SMELT_ENTRY "WHERE key=?1", key);
}
Result<std::optional<Place>> EntryTable::place_of(const Digest& key) {
  SMELT_TRY(const auto found, database_.first<PlaceColumns>("SELECT pack,at,bytes,xxh FROM entry WHERE key=?1", key));
  if (!found) return std::optional<Place>();
  return std::optional<Place>(Place{found->pack, found->at, found->bytes, half(found->sum)});
}
Result<std::vector<EntryRow>> EntryTable::all(size_t* unreadable) {
  SMELT_TRY(auto rows, database_.prepare(SMELT_ENTRY "ORDER BY key"));
  return rows.all<EntryRow>(unreadable);
}
Result<std::vector<EntryRow>> EntryTable::untagged() {
  return database_.all<EntryRow>(SMELT_ENTRY "WHERE key NOT IN (SELECT key FROM tag)");
}
Result<std::vector<EntryRow>> EntryTable::users_of(int64_t blob) {
  return database_.all<EntryRow>(SMELT_ENTRY "WHERE id IN (SELECT entry FROM entry_blob WHERE blob=?1)", blob);
}
Result<std::optional<EntryRow>> EntryTable::at(int64_t id) {
  return database_.first<EntryRow>(SMELT_ENTRY "WHERE id=?1", id);
}
Result<std::vector<InPack>> EntryTable::packs() {
  return database_.all<InPack>("SELECT id,pack FROM entry");
}
Result<std::vector<InPack>> EntryTable::blob_packs() {
  return database_.all<InPack>("SELECT entry,pack FROM entry_blob JOIN blob ON id=blob");
}
Result<uint64_t> EntryTable::count() {
  return database_.number("SELECT count(*) FROM entry");
}
Result<uint64_t> EntryTable::total_size() {
  return database_.number("SELECT coalesce(sum(size),0) FROM entry");
}
Result<uint64_t> EntryTable::tagged_size() {
  return database_.number(
      "SELECT (SELECT coalesce(sum(bytes),0) FROM entry WHERE key IN (SELECT key FROM tag)) + (SELECT "
      "coalesce(sum(stored),0) FROM blob WHERE id IN (SELECT blob FROM entry_blob JOIN entry ON entry=id WHERE key IN "
      "(SELECT key FROM tag)))");
}
Result<bool> EntryTable::is_tagged(const Digest& key) {
  return database_.any("SELECT 1 FROM tag WHERE key=?1 LIMIT 1", key);
}
Result<int64_t> EntryTable::insert(const EntryRow& row) {
  SMELT_TRY_VOID(database_.run(
      "INSERT INTO entry(key,pack,at,bytes,xxh,size,created,used,cost_us) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)", row.key,
      row.pack, row.at, row.bytes, row.sum, row.size, row.created, row.used_hour, row.cost_us));
  return database_.last_row();
}
Result<void> EntryTable::update(const EntryRow& row) {
  return database_.run(
      "UPDATE entry SET pack=?2,at=?3,bytes=?4,xxh=?5,size=?6,created=?7,used=?8,cost_us=?9 WHERE id=?1", row.id,
      row.pack, row.at, row.bytes, row.sum, row.size, row.created, row.used_hour, row.cost_us);
}
Result<void> EntryTable::used(const Digest& key, uint32_t hour, uint32_t hits) {
  return database_.run("UPDATE entry SET used=max(used,?2),hits=hits+?3 WHERE key=?1", key, hour, hits);
}
Result<void> EntryTable::erase(int64_t id) {
  return database_.run("DELETE FROM entry WHERE id=?1", id);
}

Result<std::optional<BlobRow>> BlobTable::find(const Digest& sha) {
  return database_.first<BlobRow>(SMELT_BLOB "WHERE sha256=?1", sha);
}
Result<std::optional<BlobRow>> BlobTable::at(int64_t id) {
  return database_.first<BlobRow>(SMELT_BLOB "WHERE id=?1", id);
}
Result<std::vector<InPack>> BlobTable::packs() {
  return database_.all<InPack>("SELECT id,pack FROM blob");
}
Result<std::vector<BlobRow>> BlobTable::of_entry(int64_t entry) {
  return database_.all<BlobRow>(SMELT_BLOB "WHERE id IN (SELECT blob FROM entry_blob WHERE entry=?1)", entry);
}
Result<std::vector<BlobRow>> BlobTable::all(size_t* unreadable) {
  SMELT_TRY(auto rows, database_.prepare(SMELT_BLOB));
  return rows.all<BlobRow>(unreadable);
}
Result<uint64_t> BlobTable::count() {
  return database_.number("SELECT count(*) FROM blob");
}
Result<int64_t> BlobTable::insert(const BlobRow& row) {
  SMELT_TRY_VOID(database_.run("INSERT INTO blob(sha256,pack,at,stored,raw,codec,xxh) VALUES(?1,?2,?3,?4,?5,?6,?7)",
                               row.sha, row.pack, row.at, row.stored, row.raw, row.codec, row.sum));
  return database_.last_row();
}
Result<void> BlobTable::move(int64_t id, uint64_t pack, uint64_t at) {
  return database_.run("UPDATE blob SET pack=?2,at=?3 WHERE id=?1", id, pack, at);
}
Result<void> BlobTable::erase(int64_t id) {
  return database_.run("DELETE FROM blob WHERE id=?1", id);
}
Result<bool> BlobTable::is_used(int64_t id) {
  return database_.any("SELECT 1 FROM entry_blob WHERE blob=?1 LIMIT 1", id);
}
Result<void> BlobTable::link(int64_t entry, int64_t blob) {
  return database_.run("INSERT OR IGNORE INTO entry_blob VALUES(?1,?2)", entry, blob);
}
Result<void> BlobTable::unlink_all(int64_t entry) {
  return database_.run("DELETE FROM entry_blob WHERE entry=?1", entry);
}

Result<std::optional<PackRow>> PackTable::open() {
  return database_.first<PackRow>(SMELT_PACK "WHERE id=(SELECT max(id) FROM pack) AND state=0");
}
Result<std::vector<PackRow>> PackTable::all() {
  return database_.all<PackRow>(SMELT_PACK);
}
Result<bool> PackTable::has(uint64_t id) {
  return database_.any("SELECT 1 FROM pack WHERE id=?1", id);
}
Result<uint64_t> PackTable::newest() {
  return database_.number("SELECT coalesce(max(id),0) FROM pack");
}
Result<uint64_t> PackTable::total_bytes() {
  return database_.number("SELECT coalesce(sum(bytes),0) FROM pack");
}
Result<void> PackTable::insert(uint64_t id) {
  return database_.run("INSERT INTO pack VALUES(?1,0,0,0)", id);
}
Result<void> PackTable::grow(uint64_t id, uint64_t committed, uint64_t by) {
  return database_.run("UPDATE pack SET bytes=?2,live=live+?3 WHERE id=?1", id, committed, by);
}
Result<void> PackTable::give_back(uint64_t id, uint64_t live) {
  return database_.run("UPDATE pack SET live=live-?2 WHERE id=?1", id, live);
}
Result<void> PackTable::seal(uint64_t id) {
  return database_.run("UPDATE pack SET state=1 WHERE id=?1", id);
}
Result<void> PackTable::erase(uint64_t id) {
  return database_.run("DELETE FROM pack WHERE id=?1", id);
}

Result<std::optional<Digest>> TagTable::key_of(std::string_view name, std::string_view version) {
  return database_.first<Digest>("SELECT key FROM tag WHERE name=?1 AND version=?2 ORDER BY id DESC LIMIT 1", name,
                                 version);
}
Result<std::vector<TagInfo>> TagTable::newest(std::string_view name) {
  return tags(database_.all<TagColumns>(
      "SELECT name,version,key,moved FROM tag t WHERE (?1='' OR name=?1) AND id=(SELECT max(id) FROM tag u WHERE "
      "u.name=t.name AND u.version=t.version)",
      name));
}
Result<std::vector<TagInfo>> TagTable::history(std::string_view name, std::string_view version) {
  return tags(database_.all<TagColumns>(
      "SELECT name,version,key,moved FROM tag WHERE name=?1 AND version=?2 ORDER BY id DESC", name, version));
}
Result<uint64_t> TagTable::count() {
  return database_.number("SELECT count(DISTINCT name||'@'||version) FROM tag");
}
Result<void> TagTable::insert(std::string_view name, std::string_view version, const Digest& key, uint64_t moved) {
  return database_.run("INSERT INTO tag(name,version,key,moved) VALUES(?1,?2,?3,?4)", name, version, key, moved);
}

Result<std::array<uint64_t, kIndexCounters>> CounterTable::all() {
  struct Columns {
    std::string name;
    uint64_t value = 0;
    auto columns() { return std::tie(name, value); }
  };
  std::array<uint64_t, kIndexCounters> totals{};
  SMELT_TRY(const auto rows, database_.all<Columns>("SELECT name,value FROM counter"));
  for (const Columns& row : rows) {
    size_t which = totals.size();
    std::from_chars(row.name.data(), row.name.data() + row.name.size(), which);
    if (which < totals.size()) totals[which] += row.value;
  }
  return totals;
}
Result<void> CounterTable::add(const std::array<uint64_t, kIndexCounters>& values) {
  for (size_t which = 0; which < values.size(); ++which) {
    if (values[which] == 0) continue;
    SMELT_TRY_VOID(
        database_.run("INSERT INTO counter VALUES(?1,?2) ON CONFLICT(name) DO UPDATE SET value=value+excluded.value",
                      std::string_view(std::to_string(which)), values[which]));
  }
  return {};
}

#undef SMELT_ENTRY
#undef SMELT_BLOB
#undef SMELT_PACK

}  // namespace smelt::cache
