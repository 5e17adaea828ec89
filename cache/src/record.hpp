// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An entry's record: part names, small parts themselves, and where the others lie.
//
//   at  size  field
//    0     4  magic   "SMRE"
//    4     2  format  1
//    6     2  count of parts
//    8    32  key
//   40     8  cost: microseconds it took to make
//   48        per part, by name: u16 name bytes, u8 kind, u8 codec, u32 0, then
//               kind 0 (inline): u64 bytes, name, the bytes
//               kind 1 (blob):   u64 pack, u64 at, u64 stored bytes, u64 raw bytes, 16 bytes XXH3-128 of the stored,
//               name
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"

#include <array>
#include <string>
#include <vector>

namespace smelt::cache {

using Checksum = std::array<std::byte, 16>;  // XXH3-128, canonical form
Checksum checksum(ByteView bytes);
/// What an index slot keeps of it.
inline uint64_t half(const Checksum& sum) {
  return load_le<uint64_t>(sum.data());
}

inline constexpr size_t kInlineBytes = 512;  ///< parts up to this size live in the record
inline constexpr uint8_t kCodecRaw = 0, kCodecZstd = 1;

struct RecordPart {
  std::string_view name;
  bool is_inline = true;
  ByteView bytes;  // inline
  uint8_t codec = kCodecRaw;
  uint64_t pack = 0, at = 0, stored = 0, raw = 0;
  Checksum sum{};
};

struct Record {
  uint64_t cost_us = 0;
  std::vector<RecordPart> parts;
};

Bytes encode_record(const Digest& key, const Record& record);
/// Names and inline bytes are borrowed from the bytes.
Result<Record> decode_record(ByteView bytes, const Digest& key);

}  // namespace smelt::cache
