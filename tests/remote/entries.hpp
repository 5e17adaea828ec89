// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entries whose bytes follow from a number, so that anybody can tell whether he was given the right ones.
#pragma once

#include "smelt/remote/entry.hpp"

#include <algorithm>

namespace smelt::test {

inline Digest key_of(uint64_t id) {
  Hasher hasher;
  hasher.field("remote test key");
  hasher.field(id);
  return hasher.finish();
}

/// Bytes that zstd makes somewhat smaller.
inline Bytes payload(uint64_t id, size_t size) {
  Bytes bytes(size);
  uint64_t state = id * 0x9e3779b97f4a7c15 + 1;
  for (std::byte& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<std::byte>(state & 0x1f);
  }
  return bytes;
}

inline remote::Outgoing entry_of(uint64_t id) {
  remote::Outgoing entry;
  entry.key = key_of(id);
  entry.made_from = "test";
  entry.parts = {{"kernel.smelt", payload(id, 500 + (id * 7919) % 40000)}, {"note", payload(id + 1, 40)}};
  return entry;
}

inline bool same(const remote::Arrived& arrived, const remote::Outgoing& sent) {
  if (arrived.parts.size() != sent.parts.size() || arrived.record.key != sent.key) return false;
  return std::all_of(sent.parts.begin(), sent.parts.end(), [&](const remote::Part& part) {
    return std::any_of(arrived.parts.begin(), arrived.parts.end(),
                       [&](const remote::Part& one) { return one.name == part.name && one.bytes == part.bytes; });
  });
}

}  // namespace smelt::test
