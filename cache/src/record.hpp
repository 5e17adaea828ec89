// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An entry's record: part names, small parts themselves, and where the others lie.
//
//   at  size  field
//    0     4  magic   "SMRE"
//    4     2  format  2 (1: without the fields marked 2)
//    6     2  count of parts
//    8    32  key
//   40     8  cost: microseconds it took to make
//   48     8  2: bytes of the record
//   56    16  2: the store's secret
//   72        per part, by name: u16 name bytes, u8 kind, u8 codec, u32 0, then
//               kind 0 (inline): u64 bytes, name, the bytes
//               kind 1 (blob):   u64 pack, u64 at, u64 stored bytes, u64 raw bytes, 16 bytes XXH3-128 of the stored,
//               2: 32 bytes SHA-256 of the raw, name
//   end   16  2: XXH3-128 of what precedes
//
// So a record of format 2 is known as one where it lies: a database that is lost is made anew from them. The secret is
// in no package and goes to no remote, so that bytes from elsewhere never pass for a record.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"

#include <array>
#include <optional>
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
inline constexpr size_t kRecordHead = 72;  ///< of format 2
inline constexpr std::string_view kRecordMagic = "SMRE";
inline constexpr std::string_view kDeadMagic = "SMRX";  ///< overwrites the magic of a record that was removed
using RecordSecret = std::array<std::byte, 16>;

struct RecordPart {
  std::string_view name;
  bool is_inline = true;
  ByteView bytes;  // inline
  uint8_t codec = kCodecRaw;
  uint64_t pack = 0, at = 0, stored = 0, raw = 0;
  Checksum sum{};
  Digest sha;  // all zero in format 1
};

struct Record {
  uint16_t format = 2;
  RecordSecret secret{};
  uint64_t cost_us = 0;
  std::vector<RecordPart> parts;
};

Bytes encode_record(const Digest& key, const Record& record);
/// Names and inline bytes are borrowed from the bytes.
Result<Record> decode_record(ByteView bytes, const Digest& key);

/// The SHA-256 of a value that is stored so; none when these are not the bytes of one of that size.
std::optional<Digest> sha_of_stored(ByteView stored, uint8_t codec, uint64_t raw);

/// The size of a record of format 2 with that secret, if its first kRecordHead bytes may be these; else 0.
uint64_t record_size(ByteView head, const RecordSecret& secret);
/// The key of such a record, if all of it is there as it was written.
std::optional<Digest> whole_record(ByteView bytes);

}  // namespace smelt::cache
