// Entries whose bytes follow from a number, so that any process can tell whether it was given the right ones.
#pragma once

#include "smelt/cache/store.hpp"

#include <doctest/doctest.h>

#include <string>

namespace smelt::test {

inline Digest key_of(uint64_t id) {
  Hasher hasher;
  hasher.field("test key");
  hasher.field(id);
  return hasher.finish();
}

inline Bytes payload(uint64_t id, size_t size) {
  Bytes bytes(size);
  uint64_t state = id * 0x9e3779b97f4a7c15 + 1;
  for (std::byte& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<std::byte>(state);
  }
  return bytes;
}

/// 200 B to about 40 kB.
inline size_t size_of(uint64_t id) {
  return 200 + (id * 7919) % 40000;
}

inline Result<void> put(cache::Store& store, uint64_t id, std::chrono::microseconds cost = {}) {
  const Bytes code = payload(id, size_of(id));
  const std::string info = fmt::format("{{\"id\": {}}}", id);
  return store.put(key_of(id), {{"kernel.metallib", code}, {"kernel.json", as_bytes(info)}}, cost);
}

/// 1 found and right, 0 absent, -1 wrong.
inline int check(cache::Store& store, uint64_t id) {
  const auto found = store.find(key_of(id));
  if (!found) return -1;
  if (!*found) return 0;
  const auto code = (*found)->part("kernel.metallib");
  const auto info = (*found)->part("kernel.json");
  const Bytes wanted = payload(id, size_of(id));
  if (!code || !info || !std::equal(code->begin(), code->end(), wanted.begin(), wanted.end())) return -1;
  return as_text(*info) == fmt::format("{{\"id\": {}}}", id) ? 1 : -1;
}

inline std::shared_ptr<cache::Store> open(const std::filesystem::path& folder, cache::StoreOptions options = {}) {
  auto store = cache::Store::open(folder, std::move(options));
  if (!store) FAIL(store.error().message);
  return *store;
}

}  // namespace smelt::test
