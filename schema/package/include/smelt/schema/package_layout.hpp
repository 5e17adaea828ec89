// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes of a package (.smelt). Layout only: reader and writer meet here and nowhere else.
//
// Package, formats 1 to 4. Integers are little-endian; offsets count from byte 0 of the file.
//
//   at  size  field
//    0     4  magic          "SMLT"
//    4     2  format         4 with kernels whose position has several dimensions; 3 with arrays of a stage; 2 when
//                            members of an argument buffer or structure are listed, else 1
//    6     2  oldest         lowest reader that may open this file
//    8     8  size           of the package; a shorter file is truncated, and only signatures may follow (below)
//   16   8+8  manifest       offset (112), size
//   32   8+8  parts          offset, size: the rest of the package; each part starts on a multiple of 64
//   48    32  manifest hash  SHA-256 of the manifest
//   80    32  digest         SHA-256 of bytes 0..79. It covers every byte of the package: the manifest by its hash, the
//                            parts by their hashes in the manifest, the gaps because they must be zero. So it is the
//                            package's content address, and each part can be checked alone, when it is first used.
//
// Manifest: a ManifestHeader with the row counts, the tables in the order of its fields, then the text pool. Rows have
// fixed sizes, so a mapped file is used in place: opening checks each row once and builds nothing. Rows of a child
// table lie in the order of their parents, without gaps: a parent's range begins where the one before it ended.
//
// Nothing here depends on when, where or by whom a package is built: the same input gives the same bytes.
//
// Signatures may follow the last byte that the header counts. They are not part of the package: signing changes neither
// its digest nor a byte of it, and cutting them off leaves the package as it was before.
//
//   at  size  field, from the package's end
//    0     4  magic          "SMSG"
//    4     4  size           of this block, to the end of the file; at most 8192
//    8        lines          one a signature: NAME:BASE64 LF, over package_statement()
//
// History: 1 first release. 2 a table of members, behind that of attachments; a file without members is of format 1.
// 3 arguments of the kinds stage_input and stage_output; a file without them is as before. 4 grid_rank, for which
// max_threads gives two of its four bytes, which were zero.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/metal.hpp"

namespace smelt::schema {

inline constexpr uint32_t kPackageMagic = 0x544c4d53;  // "SMLT"
inline constexpr uint16_t kPackageFormat = 4;          ///< newest that we write
inline constexpr uint16_t kPackageRanks = 4;           ///< first that has grid_rank
inline constexpr uint16_t kPackageStages = 3;          ///< first that has arrays of a stage
inline constexpr uint16_t kPackageMembers = 2;         ///< first that has members
inline constexpr uint16_t kPackageOldestRead = 1;      ///< lowest format that we still open

/// The first format that has arguments of this kind; 0: none has.
constexpr uint16_t first_format_with(uint8_t kind) {
  if (kind <= uint8_t(ArgumentKind::other)) return kPackageOldestRead;
  return kind == uint8_t(ArgumentKind::stage_input) || kind == uint8_t(ArgumentKind::stage_output) ? kPackageStages : 0;
}
inline constexpr size_t kPartAlignment = 64;
inline constexpr uint32_t kSignaturesMagic = 0x47534d53;  // "SMSG"
inline constexpr size_t kMostSignatureBytes = 8192;

struct SignaturesHeader {
  le32 magic;
  le32 size;
};
static_assert(sizeof(SignaturesHeader) == 8);

struct PackageHeader {
  le32 magic;
  le16 format;
  le16 oldest;
  le64 size;
  le64 manifest_offset;
  le64 manifest_size;
  le64 parts_offset;
  le64 parts_size;
  std::array<std::byte, 32> manifest_hash;
  std::array<std::byte, 32> digest;
};
static_assert(sizeof(PackageHeader) == 112);

/// A piece of the text pool. Text is never empty where a name is wanted and never holds a NUL.
struct TextRef {
  le32 offset;
  le32 size;
};

/// Rows [first, first + count) of a child table.
struct RowRange {
  le32 first;
  le32 count;
};

struct VersionRow {
  le16 major;
  le16 minor;
  le16 patch;
};

struct ManifestHeader {
  le32 libraries;
  le32 tags;
  le32 functions;
  le32 arguments;
  le32 constants;
  le32 slices;
  le32 presences;
  le32 attachments;
  le32 text_bytes;
  le32 members;  ///< 0 in format 1
};
static_assert(sizeof(ManifestHeader) == 40);

struct LibraryRow {
  TextRef name;
  TextRef compiler;
  TextRef version;
  std::array<std::byte, 32> source;
  RowRange tags;
  RowRange functions;
  RowRange slices;
  RowRange attachments;
};
static_assert(sizeof(LibraryRow) == 88);

struct TagRow {
  TextRef text;
};
static_assert(sizeof(TagRow) == 8);

struct FunctionRow {
  TextRef name;
  RowRange arguments;
  RowRange constants;
  le32 kind;
  le16 max_threads;  ///< before format 4 of four bytes
  le16 grid_rank;    ///< dimensions of the position that the kernel reads; 0 and 1: one, or not known
  le32 threadgroup_bytes;
  std::array<le32, 3> required_group;
  le32 by_name;  ///< row k of a library: which of its functions is the k-th in name order
};
static_assert(sizeof(FunctionRow) == 52);

struct ArgumentRow {
  TextRef name;
  TextRef type_name;
  le32 index;
  le32 location;
  uint8_t kind;
  uint8_t access;
  uint8_t address_space;
  uint8_t flags;  ///< bit 0 unused, bit 1 conditional
  le32 array_size;
  le32 size;
  le32 align;
};
static_assert(sizeof(ArgumentRow) == 40);

/// Rows of one argument lie together, and arguments with members in order.
struct MemberRow {
  TextRef name;
  TextRef type_name;
  le32 argument;  ///< its row
  le32 id;
  le32 count;
  le32 offset;
  le32 size;
  uint8_t kind;
  uint8_t access;
  le16 zero;
};
static_assert(sizeof(MemberRow) == 40);

struct ConstantRow {
  TextRef name;
  TextRef type_name;
  le32 index;
  le32 required;
};
static_assert(sizeof(ConstantRow) == 24);

struct SliceRow {
  TextRef target;
  uint8_t kind;
  uint8_t platform;
  uint8_t checked;
  uint8_t zero;
  le32 arch;
  le32 level;
  VersionRow os;
  VersionRow metal;
  VersionRow air;
  le16 family;
  le64 offset;
  le64 size;
  std::array<std::byte, 32> hash;  ///< SHA-256 of the part
  std::array<std::byte, 32> root;  ///< CPU slices: the slice's own digest, from which each kernel can be checked alone
  le32 first_presence;             ///< as many rows as the library has functions
  le32 zero_end;
};
static_assert(sizeof(SliceRow) == 128);

struct PresenceRow {
  TextRef reason;  ///< why it is missing; empty when present
  VersionRow metal;
  VersionRow air;
  le32 missing;
};
static_assert(sizeof(PresenceRow) == 24);

struct AttachmentRow {
  TextRef name;
  le64 offset;
  le64 size;
  std::array<std::byte, 32> hash;
};
static_assert(sizeof(AttachmentRow) == 56);

}  // namespace smelt::schema
