// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entries of a store whose bytes follow from a number (numbered.hpp), and damage to it.
#pragma once

#include "smelt/cache/store.hpp"

#include "files.hpp"
#include "numbered.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace smelt::test {

/// 200 B to about 40 kB.
inline size_t size_of(uint64_t id) {
  return 200 + (id * 7919) % 40000;
}

inline Result<void> put(cache::Store& store, uint64_t id, std::chrono::microseconds cost = {}) {
  const Bytes code = payload(id, size_of(id));
  const std::string info = fmt::format("{{\"id\": {}}}", id);
  return store.put(key_of(id), {{"kernel.metallib", code}, {"kernel.json", as_bytes(info)}},
                   signing::Provenance::made_here(), cost);
}

/// Whether the entry is the one of that number: 1, else -1.
inline int check_bytes(const cache::Entry& entry, uint64_t id) {
  const auto code = entry.part("kernel.metallib");
  const auto info = entry.part("kernel.json");
  const Bytes wanted = payload(id, size_of(id));
  if (!code || !info || !std::equal(code->begin(), code->end(), wanted.begin(), wanted.end())) return -1;
  return as_text(*info) == fmt::format("{{\"id\": {}}}", id) ? 1 : -1;
}

/// 1 found and right, 0 absent, -1 wrong or an error.
inline int check(cache::Store& store, uint64_t id) {
  const auto found = store.find(key_of(id));
  if (!found) return -1;
  return *found ? check_bytes(**found, id) : 0;
}

inline std::shared_ptr<cache::Store> open(const std::filesystem::path& folder, cache::StoreOptions options = {}) {
  auto store = cache::Store::open(folder, std::move(options));
  if (!store) FAIL(store.error().message);
  return *store;
}

/// Changes a file in place, as damage does it: the inode stays.
inline void overwrite(const std::filesystem::path& path, uint64_t at, const Bytes& with) {
  Bytes bytes = must_read(path);
  REQUIRE(at + with.size() <= bytes.size());
  std::copy(with.begin(), with.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  FILE* file = std::fopen(path.c_str(), "r+b");
  REQUIRE(file);
  REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
  std::fclose(file);
}

/// The places of `what` in the bytes.
inline std::vector<uint64_t> places_of(ByteView bytes, ByteView what) {
  std::vector<uint64_t> found;
  for (auto at = bytes.begin();; ++at) {
    at = std::search(at, bytes.end(), what.begin(), what.end());
    if (at == bytes.end()) return found;
    found.push_back(static_cast<uint64_t>(at - bytes.begin()));
  }
}

/// True while this process has the database of a store open.
inline bool database_is_open() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored).filename() == "store.db") return true;
  }
  return false;
}

inline void execute(const std::filesystem::path& database, const std::string& sql) {
  sqlite3* connection = nullptr;
  REQUIRE(sqlite3_open(database.c_str(), &connection) == SQLITE_OK);
  char* message = nullptr;
  const int code = sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, &message);
  INFO((message ? message : ""));
  CHECK(code == SQLITE_OK);
  sqlite3_close(connection);
}

}  // namespace smelt::test
