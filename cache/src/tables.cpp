// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tables.hpp"

#include "smelt/cache/tag_names.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace smelt::cache {
namespace {

// In the order of the rows' columns().
#define SMELT_ENTRY "SELECT id,key,pack,at,bytes,xxh,size,created,used,cost_us,hits FROM entry "
#define SMELT_BLOB "SELECT id,sha256,pack,at,stored,raw,codec,xxh FROM blob "
#define SMELT_PACK "SELECT id,state,bytes,max(live,0) FROM pack "

struct PlaceColumns {
  Digest key;
  uint64_t pack = 0, at = 0, bytes = 0;
  Checksum sum{};
  auto columns() { return std::tie(key, pack, at, bytes, sum); }
};

/// A row is used only when it is the one that was asked for: an index whose page is damaged leads to another. The
/// queries ask for the row by its number, or SQLite would answer with the index's own copy of the key.
template <class Row, class Is>
Result<std::optional<Row>> held_to(std::string_view what, Result<std::optional<Row>> found, Is is) {
  if (found && *found && !is(**found))
    return fail(Errc::store_corrupt, "store database: {} was asked for, and another row came", what);
  return found;
}

/// The next piece of a table; one that does not go on is read for ever.
template <class Row, class At, class Of>
Result<std::vector<Row>> ascending(At last, Result<std::vector<Row>> rows, Of of) {
  if (!rows) return rows;
  for (const Row& row : *rows) {
    if (!(last < of(row))) return fail(Errc::store_corrupt, "store database: the rows of a table are not in order");
    last = of(row);
  }
  return rows;
}

template <class Row>
Result<Piece<Row>> piece(Database& database, int64_t after, size_t most, const char* rows, const char* last_of_them) {
  Piece<Row> piece;
  SMELT_TRY(auto statement, database.prepare(rows));
  SMELT_TRY(piece.rows, ascending(after, statement.bind(after, most).template all<Row>(&piece.unreadable),
                                  [](const Row& row) { return row.id; }));
  piece.at_end = piece.rows.size() + piece.unreadable < most;
  if (piece.unreadable == 0) {
    piece.last = piece.rows.empty() ? after : piece.rows.back().id;
  } else if (!piece.at_end) {
    SMELT_TRY(const uint64_t last, database.number(last_of_them, after, most));
    piece.last = static_cast<int64_t>(last);
    if (piece.last <= after) return fail(Errc::store_corrupt, "store database: the rows of a table are not in order");
  }
  return piece;
}

}  // namespace

Result<std::optional<EntryRow>> EntryTable::find(const Digest& key) {
  return held_to("an entry", database_.first<EntryRow>(SMELT_ENTRY "WHERE id=(SELECT id FROM entry WHERE key=?1)", key),
                 [&](const EntryRow& row) { return row.key == key; });
}
Result<std::optional<Place>> EntryTable::place_of(const Digest& key) {
  SMELT_TRY(const auto found,
            held_to("an entry's place",
                    database_.first<PlaceColumns>(
                        "SELECT key,pack,at,bytes,xxh FROM entry WHERE id=(SELECT id FROM entry WHERE key=?1)", key),
                    [&](const PlaceColumns& row) { return row.key == key; }));
  if (!found) return std::optional<Place>();
  return std::optional<Place>(Place{found->pack, found->at, found->bytes, half(found->sum)});
}
Result<std::vector<EntryRow>> EntryTable::all() {
  return database_.all<EntryRow>(SMELT_ENTRY "ORDER BY key");
}
Result<std::vector<EntryRow>> EntryTable::after(int64_t id, size_t most) {
  return ascending(id, database_.all<EntryRow>(SMELT_ENTRY "WHERE id>?1 ORDER BY id LIMIT ?2", id, most),
                   [](const EntryRow& row) { return row.id; });
}
Result<Piece<EntryRow>> EntryTable::piece_after(int64_t id, size_t most) {
  return piece<EntryRow>(database_, id, most, SMELT_ENTRY "WHERE id>?1 ORDER BY id LIMIT ?2",
                         "SELECT max(id) FROM (SELECT id FROM entry WHERE id>?1 ORDER BY id LIMIT ?2)");
}
Result<std::vector<EntryRow>> EntryTable::after(const std::optional<Digest>& key, size_t most) {
  constexpr const char* kFirst = SMELT_ENTRY "ORDER BY key LIMIT ?1";
  constexpr const char* kNext = SMELT_ENTRY "WHERE key>?1 ORDER BY key LIMIT ?2";
  return ascending(key, key ? database_.all<EntryRow>(kNext, *key, most) : database_.all<EntryRow>(kFirst, most),
                   [](const EntryRow& row) { return std::optional(row.key); });
}
std::vector<EntryRow> EntryTable::salvage() {
  std::vector<EntryRow> rows;
  // From both ends: a page that is damaged ends a reading.
  for (const char* sql : {SMELT_ENTRY "NOT INDEXED ORDER BY id", SMELT_ENTRY "NOT INDEXED ORDER BY id DESC"})
    if (auto statement = database_.prepare(sql)) statement->salvage(rows);
  return rows;
}
Result<std::vector<EntryRow>> EntryTable::users_of(int64_t blob) {
  return database_.all<EntryRow>(SMELT_ENTRY "WHERE id IN (SELECT entry FROM entry_blob WHERE blob=?1)", blob);
}
Result<std::optional<EntryRow>> EntryTable::at(int64_t id) {
  return database_.first<EntryRow>(SMELT_ENTRY "WHERE id=?1", id);
}
Result<std::vector<InPack>> EntryTable::packs_after(int64_t id, size_t most) {
  return ascending(id, database_.all<InPack>("SELECT id,pack FROM entry WHERE id>?1 ORDER BY id LIMIT ?2", id, most),
                   [](const InPack& row) { return row.id; });
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
  return database_.run(
      "UPDATE entry SET used=CASE WHEN used>?4 THEN ?2 ELSE max(used,?2) END,hits=hits+?3 WHERE key=?1", key, hour,
      hits, std::max(hour, current_hour()));
}
Result<void> EntryTable::erase(int64_t id) {
  return database_.run("DELETE FROM entry WHERE id=?1", id);
}

Result<std::optional<BlobRow>> BlobTable::find(const Digest& sha) {
  return held_to("a blob", database_.first<BlobRow>(SMELT_BLOB "WHERE id=(SELECT id FROM blob WHERE sha256=?1)", sha),
                 [&](const BlobRow& row) { return row.sha == sha; });
}
Result<std::optional<BlobRow>> BlobTable::at(int64_t id) {
  return database_.first<BlobRow>(SMELT_BLOB "WHERE id=?1", id);
}
Result<std::vector<InPack>> BlobTable::packs_after(int64_t id, size_t most) {
  return ascending(id, database_.all<InPack>("SELECT id,pack FROM blob WHERE id>?1 ORDER BY id LIMIT ?2", id, most),
                   [](const InPack& row) { return row.id; });
}
Result<std::vector<BlobRow>> BlobTable::of_entry(int64_t entry) {
  return database_.all<BlobRow>(SMELT_BLOB "WHERE id IN (SELECT blob FROM entry_blob WHERE entry=?1)", entry);
}
Result<Piece<BlobRow>> BlobTable::piece_after(int64_t id, size_t most) {
  return piece<BlobRow>(database_, id, most, SMELT_BLOB "WHERE id>?1 ORDER BY id LIMIT ?2",
                        "SELECT max(id) FROM (SELECT id FROM blob WHERE id>?1 ORDER BY id LIMIT ?2)");
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

const char* TagTable::select_all() const {
  if (database_.version() < 5)  // read-only, and made by an older smelt
    return "SELECT id,name,version,key,moved,x'' FROM tag NOT INDEXED ORDER BY id";
  return "SELECT id,name,version,key,moved,coalesce(sum,x'') FROM tag NOT INDEXED ORDER BY id";
}
Result<std::vector<TagRow>> TagTable::all() {
  // The table itself in its order, by no index: a row that is damaged or missing is noticed.
  SMELT_TRY(auto rows, database_.all<TagRow>(select_all()));
  for (size_t i = 0; i < rows.size(); ++i)
    if (!rows[i].settle() || rows[i].id != static_cast<int64_t>(i) + 1)
      return fail(Errc::store_corrupt, "store database: row {} of the tags is not as it was written", rows[i].id);
  return rows;
}
std::vector<TagRow> TagTable::salvage() {
  std::vector<TagRow> rows;
  if (auto statement = database_.prepare(select_all())) statement->salvage(rows);
  std::erase_if(rows, [](TagRow& row) { return !row.settle() || !check_tag(row.name, row.version); });
  return rows;
}
Result<std::optional<TagRow>> TagTable::find(std::string_view name, std::string_view version) {
  SMELT_TRY(auto rows, all());
  for (auto row = rows.rbegin(); row != rows.rend(); ++row)
    if (row->name == name && row->version == version) return row->past ? std::nullopt : std::optional(*row);
  return std::optional<TagRow>();
}
Result<std::vector<TagInfo>> TagTable::newest(std::string_view name) {
  SMELT_TRY(const auto rows, all());
  std::map<std::pair<std::string_view, std::string_view>, const TagRow*> last;
  for (const TagRow& row : rows)
    if (name.empty() || row.name == name) last[{row.name, row.version}] = &row;
  std::vector<TagInfo> found;
  for (const auto& [which, row] : last)
    if (!row->past) found.push_back(*row);
  return found;
}
Result<std::vector<TagInfo>> TagTable::history(std::string_view name, std::string_view version) {
  SMELT_TRY(const auto rows, all());
  std::vector<TagInfo> found;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row)
    if (row->name == name && row->version == version) found.push_back(*row);
  return found;
}
Result<std::set<Digest>> TagTable::keys() {
  SMELT_TRY(const auto rows, all());
  std::set<Digest> found;
  for (const TagRow& row : rows) found.insert(row.key);
  return found;
}
Result<void> TagTable::insert(TagRow row) {
  SMELT_TRY(const uint64_t newest, database_.number("SELECT coalesce(max(id),0) FROM tag"));
  row.id = static_cast<int64_t>(newest) + 1;
  return database_.run("INSERT INTO tag(id,name,version,key,moved,sum) VALUES(?1,?2,?3,?4,?5,?6)", row.id, row.name,
                       row.version, row.key, row.moved, row.checksum(row.past));
}
Result<void> TagTable::leave(const TagRow& row) {
  return database_.run("UPDATE tag SET sum=?2 WHERE id=?1", row.id, row.checksum(true));
}

Result<void> TagTable::clear() {
  return database_.run("DELETE FROM tag");
}

Checksum TagRow::checksum(bool of_past) const {
  ByteWriter out;
  out.put(static_cast<uint64_t>(id));
  out.put_cstring(name);
  out.put_cstring(version);
  out.put_bytes(key.bytes);
  out.put(moved);
  out.put(static_cast<uint8_t>(of_past ? 1 : 0));
  return cache::checksum(out.take());
}
bool TagRow::settle() {
  const auto is = [&](const Checksum& wanted) {
    return std::equal(wanted.begin(), wanted.end(), sum.begin(), sum.end());
  };
  past = !sum.empty() && is(checksum(true));
  return sum.empty() || past || is(checksum(false));
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

Result<void> CounterTable::clear() {
  return database_.run("DELETE FROM counter");
}

#undef SMELT_ENTRY
#undef SMELT_BLOB
#undef SMELT_PACK

}  // namespace smelt::cache
