// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "database.hpp"

#include "smelt/schema/store_schema.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace smelt::cache {
namespace {

constexpr off_t kShortLogBytes = 2 << 20;
constexpr uint64_t kCheckpointBytes = 24 << 20;

tl::unexpected<Error> sqlite_error(sqlite3* database, int code, std::string_view doing) {
  const char* text = database ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  Errc errc = Errc::io;
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:       // a table that is gone, a sum out of range: our statements are right
    case SQLITE_CONSTRAINT:  // what is inserted was looked for before: the index of the constraint is damaged
      errc = Errc::store_corrupt;
      break;
    case SQLITE_IOERR:
      // A sector that cannot be read is lost; one that cannot be written is the disk's trouble with everything.
      if (code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ || code == SQLITE_IOERR_CORRUPTFS ||
          code == SQLITE_IOERR_DATA)
        errc = Errc::store_corrupt;
      break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      errc = Errc::store_locked;
      break;
    default:
      break;
  }
  if ((code & 0xff) == SQLITE_FULL)
    return fail(Errc::io, "store database: {}: the disk is full; free space or point SMELT_STORE elsewhere", doing);
  return fail(errc, "store database: {}: {}", doing, text);
}

}  // namespace

Statement::~Statement() {
  if (!statement_) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}
void Statement::put_integer(int at, int64_t value) {
  sqlite3_bind_int64(statement_, at, value);
}
void Statement::put(int at, ByteView bytes) {
  sqlite3_bind_blob64(statement_, at, bytes.data(), bytes.size(), SQLITE_STATIC);
}
void Statement::put(int at, std::string_view text) {
  // A null pointer would bind NULL.
  sqlite3_bind_text64(statement_, at, text.data() ? text.data() : "", text.size(), SQLITE_STATIC, SQLITE_UTF8);
}
Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return sqlite_error(database_, code, sqlite3_sql(statement_));
}
Result<void> Statement::run() {
  for (;;) {
    SMELT_TRY(const bool row, step());
    if (!row) return {};
  }
}
tl::unexpected<Error> Statement::unreadable_row() const {
  return fail(Errc::store_corrupt, "store database: {}: a row has values of wrong types", sqlite3_sql(statement_));
}
std::optional<int64_t> Statement::integer(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement_, column);
}
ByteView Statement::blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  return {static_cast<const std::byte*>(bytes), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}
Result<void> Database::open(const std::filesystem::path& path, bool read_only, bool durable) {
  close();
  const std::string wal = path.string() + "-wal";
  // A WAL database in a folder that cannot be written opens only as immutable, which is right as long as no log is
  // waiting to be merged.
  const bool immutable =
      read_only && ::access(path.parent_path().c_str(), W_OK) != 0 && ::access(wal.c_str(), F_OK) != 0;
  std::string uri = "file:";
  for (const char c : path.string()) {  // the characters that a URI gives a meaning
    if (c == '?' || c == '#' || c == '%')
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  if (immutable) uri += "?immutable=1";
  const int flags = (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE;
  if (const int code = sqlite3_open_v2(uri.c_str(), &database_, flags, nullptr); code != SQLITE_OK) {
    auto error = sqlite_error(database_, code, fmt::format("cannot open {}", path.string()));
    close();
    return error;
  }
  sqlite3_busy_timeout(database_, 10000);  // a backstop: the writer lock keeps our own processes in line
  auto ready = [&]() -> Result<void> {
    SMELT_TRY_VOID(execute("PRAGMA trusted_schema=OFF"));
    SMELT_TRY_VOID(execute("PRAGMA mmap_size=0"));  // a sector that cannot be read is an error then, not a signal
    if (!read_only) {
      // A put changes one page of each of seven trees, and each is summed and written to the log whole. Counts for a
      // database that is made now.
      SMELT_TRY_VOID(execute("PRAGMA page_size=1024"));
      // A new database has nothing to lose, and would wait for six syncs. After a power cut it is rebuilt from the
      // packs.
      SMELT_TRY(const uint64_t pages, number("PRAGMA page_count"));
      // In an existing database, this statement would write a page, which fails on a full disk.
      if (pages == 0) SMELT_TRY_VOID(execute("PRAGMA auto_vacuum=INCREMENTAL"));
      if (pages == 0 && !durable) SMELT_TRY_VOID(execute("PRAGMA synchronous=OFF"));
      SMELT_TRY_VOID(execute("PRAGMA journal_mode=WAL"));
      SMELT_TRY_VOID(execute("PRAGMA secure_delete=OFF"));
      // A checkpoint syncs, inside some put and while the other writers wait. Every 1000 pages (SQLite's default) is
      // one in a hundred puts, which makes it the 99th percentile.
      SMELT_TRY(const uint64_t page, number("PRAGMA page_size"));
      sqlite3_wal_autocheckpoint(database_, static_cast<int>(kCheckpointBytes / std::max<uint64_t>(page, 512)));
      SMELT_TRY_VOID(execute("PRAGMA journal_size_limit=33554432"));
    }
    SMELT_TRY_VOID(migrate());
    SMELT_TRY_VOID(look_whether_it_gives_back());
    return execute(durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  }();
  if (!ready) close();
  return ready;
}

void Database::close() {
  if (!database_) return;
  for (auto& [sql, statement] : prepared_) sqlite3_finalize(statement);
  prepared_.clear();
  // The last connection of all to close moves the log into the database, with two syncs, and removes it; the next
  // process that writes then syncs a new log's header. That is 30 ms on a disk, for each process that published one
  // kernel. A short log may stay: whoever opens it next reads it in a millisecond.
  struct stat log{};
  const char* path = sqlite3_filename_wal(sqlite3_db_filename(database_, "main"));
  const bool keep_log = path && ::stat(path, &log) == 0 && log.st_size < kShortLogBytes;
  sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep_log ? 1 : 0, nullptr);
  sqlite3_close(database_);
  database_ = nullptr;
}

bool Database::moved() const {
  int moved = 0;
  return sqlite3_file_control(database_, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt*& statement = prepared_[sql];
  if (!statement) {
    const int code = sqlite3_prepare_v3(database_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) {
      prepared_.erase(sql);
      return sqlite_error(database_, code, sql);
    }
  }
  return Statement(database_, statement);
}

Result<void> Database::execute(const char* sql) {
  const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return sqlite_error(database_, code, std::string_view(sql).substr(0, 60));
  return {};
}

Result<Database::Size> Database::size() {
  SMELT_TRY(const uint64_t pages, number("PRAGMA page_count"));
  SMELT_TRY(const uint64_t unused, number("PRAGMA freelist_count"));
  SMELT_TRY(const uint64_t page, number("PRAGMA page_size"));
  return Size{(pages - std::min(pages, unused)) * page, std::min(pages, unused) * page};
}

Result<void> Database::look_whether_it_gives_back() {
  constexpr uint64_t kIncremental = 2;
  SMELT_TRY(const uint64_t how, number("PRAGMA auto_vacuum"));
  gives_back_ = how == kIncremental;
  return {};
}

Result<void> Database::give_back(uint64_t pages) {
  return execute(fmt::format("PRAGMA incremental_vacuum({})", pages).c_str());
}

Result<void> Database::vacuum() {
  SMELT_TRY_VOID(execute("PRAGMA auto_vacuum=INCREMENTAL"));
  SMELT_TRY_VOID(execute("VACUUM"));
  return look_whether_it_gives_back();
}

int64_t Database::last_row() const {
  return sqlite3_last_insert_rowid(database_);
}

Result<void> Database::migrate() {
  const auto migrations = schema::store_migrations();
  const uint64_t newest = migrations.size();
  SMELT_TRY(uint64_t version, number("PRAGMA user_version"));
  const bool read_only = sqlite3_db_readonly(database_, "main") == 1;
  if (version != newest && version != 0) {  // a flipped bit, or another smelt: meta has the number once more
    SMELT_TRY(const uint64_t agree,
              number("SELECT coalesce((SELECT value FROM meta WHERE name='schema'),user_version)=user_version "
                     "FROM pragma_user_version"));  // in one statement: another process may migrate meanwhile
    if (agree == 0)
      return fail(Errc::store_corrupt, "store database: schema {} in its header is not what its table meta says",
                  version);
  }
  if (version < newest && !read_only) {
    SMELT_TRY(auto transaction, Transaction::begin(*this));
    SMELT_TRY(version, number("PRAGMA user_version"));  // another process may have migrated while we waited
    SMELT_TRY(const uint64_t tables, number("SELECT count(*) FROM sqlite_master"));
    if (version == 0 && tables != 0) return fail(Errc::store_corrupt, "store database: holds another program's tables");
    for (; version < newest; ++version) {
      SMELT_TRY_VOID(execute(std::string(migrations[version]).c_str()));
      SMELT_TRY_VOID(execute(fmt::format("PRAGMA user_version={}", version + 1).c_str()));
    }
    SMELT_TRY_VOID(execute(fmt::format("PRAGMA application_id={}", schema::kStoreApplicationId).c_str()));
    SMELT_TRY_VOID(
        execute(fmt::format("INSERT OR REPLACE INTO meta VALUES('oldest',{})", schema::kStoreOldest).c_str()));
    SMELT_TRY_VOID(execute(fmt::format("INSERT OR REPLACE INTO meta VALUES('schema',{})", newest).c_str()));
    SMELT_TRY_VOID(execute("INSERT OR IGNORE INTO meta VALUES('id', abs(random()))"));
    SMELT_TRY_VOID(transaction.commit());
  }
  SMELT_TRY(const uint64_t application, number("PRAGMA application_id"));
  if (application != schema::kStoreApplicationId)
    return fail(Errc::store_corrupt, "store database: application_id is {}, want {}", application,
                schema::kStoreApplicationId);
  if (version > newest) {
    SMELT_TRY(const uint64_t oldest, number("SELECT value FROM meta WHERE name='oldest'"));
    if (oldest > newest)
      return fail(Errc::store_newer,
                  "store database: schema {} (readable from {} on), this smelt knows {}; update smelt "
                  "or point SMELT_STORE elsewhere",
                  version, oldest, newest);
    if (!read_only)
      return fail(Errc::store_newer,
                  "store database: schema {}, this smelt writes {}; update smelt, open it read-only, "
                  "or point SMELT_STORE elsewhere",
                  version, newest);
  }
  version_ = static_cast<int>(version);
  return {};
}

Result<Transaction> Transaction::begin(Database& database, Kind kind) {
  SMELT_TRY_VOID(database.run(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // Fails harmlessly when SQLite itself has rolled back already (a full disk, for one).
  if (database_) (void)database_->execute("ROLLBACK");
}

Result<void> Transaction::commit() {
  SMELT_TRY_VOID(database_->run("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace smelt::cache
