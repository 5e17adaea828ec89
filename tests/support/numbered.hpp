// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys and bytes that follow from a number, so that anybody can tell whether he was given the right ones.
#pragma once

#include "smelt/base/digest.hpp"

namespace smelt::test {

inline Digest key_of(uint64_t id) {
  Hasher hasher;
  hasher.field("test key");
  hasher.field(id);
  return hasher.finish();
}

/// Random bytes; with fewer bits than eight in each, zstd makes them smaller.
inline Bytes payload(uint64_t id, size_t size, unsigned bits = 8) {
  Bytes bytes(size);
  uint64_t state = id * 0x9e3779b97f4a7c15 + 1;
  for (std::byte& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<std::byte>(state & ((1u << bits) - 1));
  }
  return bytes;
}

}  // namespace smelt::test
