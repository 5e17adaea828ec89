// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a remote files under `ac/<key>`: which blobs an entry is made of, what it was made from, who signed it. The
// blobs lie under `cas/<sha256>`, each named after the bytes that lie there. Text, so that any client can show it:
//
//   smelt-entry 1
//   key 5ae1...                    64 hex digits; the name it is filed under, so that entries cannot be swapped
//   made-from <text>               may be empty: "made-from" alone
//   cost 41250                     microseconds it took to make
//   part 61352 9f0c... library.smelt     bytes and SHA-256 as the user sees them, and the name (to the end of the line)
//   blob zstd 20417 77ab...        of the part before it: codec, bytes and SHA-256 of what lies under cas/
//   signed ci:BASE64               any number; over statement()
//   sum 1b40...                    SHA-256 of everything above
//
// Lines end with LF; numbers are decimal without leading zeros; one space between fields. Parts are ascending by name.
// There is one spelling of each record: what parses is written back the same. No proper prefix of a record is one.
//
// What is signed: the lines `smelt-entry 1`, `key`, `made-from` and `part`, in that order. Cost and blobs are left out:
// an entry may be packed again on its way.
//
// History: 1 first release.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"

#include <string>
#include <vector>

namespace smelt::schema {

inline constexpr size_t kMostRecordBytes = size_t{1} << 20;
inline constexpr size_t kMostRecordParts = 4096;
inline constexpr size_t kMostRecordName = 255;
inline constexpr size_t kMostRecordMadeFrom = 4096;
inline constexpr size_t kMostRecordSignatures = 16;
inline constexpr uint64_t kMostRecordPart = uint64_t{256} << 20;   ///< bytes of one part
inline constexpr uint64_t kMostRecordEntry = uint64_t{512} << 20;  ///< bytes of all parts

enum class Codec : uint8_t { none, zstd };

struct EntryRecord {
  struct Part {
    std::string name;  ///< 1 to 255 bytes, no control characters
    uint64_t bytes = 0;
    Digest digest;
    Codec codec = Codec::none;  ///< none: the blob is the part, so its size and digest are the same
    uint64_t blob_bytes = 0;
    Digest blob;
    bool operator==(const Part&) const = default;
  };
  Digest key;
  std::string made_from;
  uint64_t cost_us = 0;
  std::vector<Part> parts;  ///< at least one
  std::vector<std::string>
      signatures;  ///< "NAME:BASE64", see smelt/signing/keys.hpp; only their characters are checked
  bool operator==(const EntryRecord&) const = default;
};

/// Errors: `corrupt` (also for every cut or changed record), `format_newer`.
Result<EntryRecord> parse_entry_record(ByteView bytes);

/// Errors: `invalid_argument` for what the format cannot say: no parts, names with control characters, too much.
Result<std::string> write_entry_record(const EntryRecord& record);

/// The text that signatures are made over.
std::string statement(const EntryRecord& record);

}  // namespace smelt::schema
