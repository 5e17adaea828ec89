// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The store's rivals: a folder per key in the layout of Triton's FileCacheManager (group file, metadata, binary;
// temporary folder and rename; no sync), LMDB, and SQLite with the bytes in its rows.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"

#include <filesystem>
#include <optional>
#include <string>

struct MDB_env;
struct sqlite3;
struct sqlite3_stmt;

namespace smelt::bench {

class TritonFiles {
 public:
  explicit TritonFiles(std::filesystem::path folder);
  void put(const Digest& key, ByteView binary, std::string_view metadata);
  /// Reads as its reader does: group, its paths, metadata, binary. `into` is grown when too small; returns bytes read.
  size_t get(const Digest& key, Bytes& into);

 private:
  void write_one(const std::filesystem::path& folder, const char* name, ByteView bytes);
  std::filesystem::path folder_;
  uint64_t counter_ = 0;
};

class Lmdb {
 public:
  Lmdb(const std::filesystem::path& folder, bool read_only, bool sync);
  ~Lmdb();
  Lmdb(const Lmdb&) = delete;
  Lmdb& operator=(const Lmdb&) = delete;
  void put(const Digest& key, ByteView binary);
  /// One read transaction for a batch: begin, views, end.
  void begin();
  ByteView view(const Digest& key);
  std::optional<ByteView> look(const Digest& key);  ///< none: it is not there
  void end();

 private:
  MDB_env* environment_ = nullptr;
  unsigned database_ = 0;
  void* transaction_ = nullptr;
};

/// A table of keys and bytes, with a log that is synced where ours is.
class Sqlite {
 public:
  explicit Sqlite(const std::filesystem::path& folder);
  ~Sqlite();
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;
  void put(const Digest& key, ByteView binary);
  bool get(const Digest& key, Bytes& into);

 private:
  sqlite3* database_ = nullptr;
  sqlite3_stmt* put_ = nullptr;
  sqlite3_stmt* get_ = nullptr;
};

}  // namespace smelt::bench
