// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rivals.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <lmdb.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace smelt::bench {
namespace {

void must(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::exit(1);
}

size_t read_whole(const char* path, Bytes& into, size_t at) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  must(fd >= 0, path);
  struct stat status{};
  ::fstat(fd, &status);
  const auto size = static_cast<size_t>(status.st_size);
  if (into.size() < at + size) into.resize(at + size);
  size_t got = 0;
  while (got < size) {
    const ssize_t n = ::read(fd, into.data() + at + got, size - got);
    must(n > 0, "read");
    got += static_cast<size_t>(n);
  }
  ::close(fd);
  return size;
}

}  // namespace

TritonFiles::TritonFiles(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
}

void TritonFiles::write_one(const std::filesystem::path& folder, const char* name, ByteView bytes) {
  const std::string temporary = (folder / fmt::format("tmp.pid_{}_{}", ::getpid(), counter_++)).string();
  must(::mkdir(temporary.c_str(), 0755) == 0, "mkdir");
  const std::string file = temporary + "/" + name;
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  must(fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "write");
  ::close(fd);
  must(::rename(file.c_str(), (folder / name).c_str()) == 0, "rename");
  ::rmdir(temporary.c_str());
}

void TritonFiles::put(const Digest& key, ByteView binary, std::string_view metadata) {
  const auto folder = folder_ / to_hex(key).substr(0, 52);
  ::mkdir(folder.c_str(), 0755);
  write_one(folder, "kernel.metallib", binary);
  write_one(folder, "kernel.json", as_bytes(metadata));
  const std::string group = fmt::format(
      "{{\"child_paths\": {{\"kernel.metallib\": \"{0}/kernel.metallib\", "
      "\"kernel.json\": \"{0}/kernel.json\"}}}}",
      folder.string());
  write_one(folder, "__grp__kernel.json", as_bytes(group));
}

size_t TritonFiles::get(const Digest& key, Bytes& into) {
  const std::string folder = (folder_ / to_hex(key).substr(0, 52)).string();
  struct stat status{};
  Bytes small(4096);
  const std::string group = folder + "/__grp__kernel.json";
  must(::stat(group.c_str(), &status) == 0, "stat");
  const size_t bytes = read_whole(group.c_str(), small, 0);
  const std::string_view text = as_text(ByteView(small).first(bytes));
  for (size_t at = 0; (at = text.find("\": \"/", at)) != std::string_view::npos;) {
    at += 4;
    const std::string child(text.substr(at, text.find('"', at) - at));
    must(::stat(child.c_str(), &status) == 0, child.c_str());
  }
  read_whole((folder + "/kernel.json").c_str(), small, 0);
  return read_whole((folder + "/kernel.metallib").c_str(), into, 0);
}

Lmdb::Lmdb(const std::filesystem::path& folder, bool read_only, bool sync) {
  std::filesystem::create_directories(folder);
  must(mdb_env_create(&environment_) == 0, "lmdb");
  mdb_env_set_mapsize(environment_, size_t{16} << 30);
  must(mdb_env_open(environment_, folder.c_str(), (read_only ? MDB_RDONLY : 0u) | (sync ? 0u : MDB_NOSYNC), 0644) == 0,
       "lmdb open");
  MDB_txn* transaction = nullptr;
  must(mdb_txn_begin(environment_, nullptr, read_only ? MDB_RDONLY : 0, &transaction) == 0, "lmdb begin");
  must(mdb_dbi_open(transaction, nullptr, read_only ? 0 : MDB_CREATE, &database_) == 0, "lmdb database");
  mdb_txn_commit(transaction);
}

Lmdb::~Lmdb() {
  if (transaction_) end();
  mdb_env_close(environment_);
}

void Lmdb::put(const Digest& key, ByteView binary) {
  MDB_txn* transaction = nullptr;
  must(mdb_txn_begin(environment_, nullptr, 0, &transaction) == 0, "lmdb begin");
  MDB_val name{key.bytes.size(), const_cast<std::byte*>(key.bytes.data())};
  MDB_val value{binary.size(), const_cast<std::byte*>(binary.data())};
  must(mdb_put(transaction, database_, &name, &value, 0) == 0, "lmdb put");
  must(mdb_txn_commit(transaction) == 0, "lmdb commit");
}

void Lmdb::begin() {
  MDB_txn* transaction = nullptr;
  must(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &transaction) == 0, "lmdb begin");
  transaction_ = transaction;
}

ByteView Lmdb::view(const Digest& key) {
  const auto found = look(key);
  must(found.has_value(), "lmdb get");
  return *found;
}

std::optional<ByteView> Lmdb::look(const Digest& key) {
  MDB_val name{key.bytes.size(), const_cast<std::byte*>(key.bytes.data())};
  MDB_val value{};
  if (mdb_get(static_cast<MDB_txn*>(transaction_), database_, &name, &value) != 0) return std::nullopt;
  return ByteView{static_cast<const std::byte*>(value.mv_data), value.mv_size};
}

void Lmdb::end() {
  mdb_txn_abort(static_cast<MDB_txn*>(transaction_));
  transaction_ = nullptr;
}

Sqlite::Sqlite(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  must(sqlite3_open((folder / "blobs.db").c_str(), &database_) == SQLITE_OK, "sqlite open");
  must(sqlite3_exec(database_,
                    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                    "CREATE TABLE IF NOT EXISTS blob(key BLOB PRIMARY KEY, value BLOB NOT NULL)",
                    nullptr, nullptr, nullptr) == SQLITE_OK,
       "sqlite table");
  must(sqlite3_prepare_v2(database_, "INSERT INTO blob VALUES(?1,?2)", -1, &put_, nullptr) == SQLITE_OK, "sqlite put");
  must(sqlite3_prepare_v2(database_, "SELECT value FROM blob WHERE key=?1", -1, &get_, nullptr) == SQLITE_OK,
       "sqlite get");
}

Sqlite::~Sqlite() {
  sqlite3_finalize(put_);
  sqlite3_finalize(get_);
  sqlite3_close(database_);
}

void Sqlite::put(const Digest& key, ByteView binary) {
  sqlite3_bind_blob(put_, 1, key.bytes.data(), static_cast<int>(key.bytes.size()), SQLITE_STATIC);
  sqlite3_bind_blob(put_, 2, binary.data(), static_cast<int>(binary.size()), SQLITE_STATIC);
  must(sqlite3_step(put_) == SQLITE_DONE, "sqlite put");
  sqlite3_reset(put_);
}

bool Sqlite::get(const Digest& key, Bytes& into) {
  sqlite3_bind_blob(get_, 1, key.bytes.data(), static_cast<int>(key.bytes.size()), SQLITE_STATIC);
  const bool found = sqlite3_step(get_) == SQLITE_ROW;
  if (found) {
    into.resize(static_cast<size_t>(sqlite3_column_bytes(get_, 0)));
    std::memcpy(into.data(), sqlite3_column_blob(get_, 0), into.size());
  }
  sqlite3_reset(get_);
  return found;
}

}  // namespace smelt::bench
