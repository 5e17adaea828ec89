// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The store's rivals: a folder per key in the layout of Triton's FileCacheManager (group file, metadata, binary;
// temporary folder and rename; no sync), and LMDB.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"

#include <filesystem>
#include <string>

struct MDB_env;

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
  void end();

 private:
  MDB_env* environment_ = nullptr;
  unsigned database_ = 0;
  void* transaction_ = nullptr;
};

}  // namespace smelt::bench
