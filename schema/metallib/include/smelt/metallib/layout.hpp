// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apple's Metal library container (MTLB), drawn; no logic. Facts and their evidence: docs/formats/metallib.md.
//
//    at   size  field
//     0      4  magic            "MTLB"
//     4      2  bit 15: built for macOS; bits 0-14: container major, 1
//     6      2  container minor  2
//     8      2  container patch  2 ... 9
//    10      1  bit 7: stub; bits 0-6: FileType
//    11      1  bit 7: 64-bit; bits 0-6: Platform        zero through 1.2.5
//    12  2+1+1  deployment target: major, minor, patch   zero through 1.2.5
//    16      8  file size        of the whole image
//    24    8+8  function list    offset, size; the size leaves out the list's u32 count
//    40    8+8  public metadata  offset, size
//    56    8+8  private metadata offset, size
//    72    8+8  bitcode          offset, size
//    88         sections, each byte in exactly one of them:
//
//   function list     u32 count; count groups             NAME TYPE HASH OFFT VERS [MDSZ SOFF RFLT TESS LAYR]
//   header extension  tags, ENDT                           right behind the list; absent in 1.2.2
//   public metadata   groups                               CNST VATT VATY RETR ARGR
//   private metadata  groups                               DEBI DEPF
//   bitcode           blobs                                wrapper, LLVM bitcode, zeros up to a multiple of 16
//   sources           HSRC, HSRD: u32 count; command NUL; [directory NUL]; count groups with SARC
//   dynamic header    HDYN: tags, ENDT                     NAME DYNL...
//   variables         VLST                                 content unknown
//   imported symbols  ILST                                 content unknown
//   reflection        RLST: u32 count; count groups with RBUF
//   scripts           SLST                                 kept as it is
//
//   tag    name[4], u16 length, payload. ENDT has no length. RBUF, RBUZ, SBUF, and every tag of a source group: u32.
//   group  u32 size, tags, ENDT. The size counts tags and ENDT; it counts itself too in the function list, in
//          reflection entries, and in metadata groups of the linker dialect (empty: 8); metadata groups of the tool
//          dialect (empty: 4) and source groups leave it out.
//
// Integers are little-endian and unaligned; offsets count from byte 0 of the image. A byte that none of this explains
// is an error, but for runs of zeros shorter than kMaxPadding between two sections.
#pragma once

#include "smelt/base/bytes.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

namespace smelt::metallib {

/// A four-letter code.
struct Fourcc {
  std::array<char, 4> letters{};
  constexpr Fourcc() = default;
  constexpr Fourcc(const char (&text)[5]) : letters{text[0], text[1], text[2], text[3]} {}
  constexpr std::string_view text() const { return {letters.data(), letters.size()}; }
  auto operator<=>(const Fourcc&) const = default;
};

namespace tag {
inline constexpr Fourcc end{"ENDT"};
// function list
inline constexpr Fourcc name{"NAME"}, type{"TYPE"}, hash{"HASH"}, offsets{"OFFT"}, versions{"VERS"},
    module_size{"MDSZ"}, source_offset{"SOFF"}, reflection_offset{"RFLT"}, tessellation{"TESS"}, layer{"LAYR"};
// header extension
inline constexpr Fourcc uuid{"UUID"}, sources{"HSRC"}, sources_with_directory{"HSRD"}, dynamic_header{"HDYN"},
    variables{"VLST"}, imports{"ILST"}, reflection{"RLST"}, scripts{"SLST"};
// public and private metadata
inline constexpr Fourcc constants{"CNST"}, vertex_attributes{"VATT"}, vertex_types{"VATY"}, debug_location{"DEBI"},
    dependency{"DEPF"};
// sources, reflection, scripts, dynamic header
inline constexpr Fourcc source_archive{"SARC"}, reflection_buffer{"RBUF"}, reflection_packed{"RBUZ"},
    script_buffer{"SBUF"}, dynamic_library{"DYNL"};
}  // namespace tag

struct Range {
  le64 offset;
  le64 size;
};

struct Header {
  std::array<char, 4> magic;
  le16 macos_and_major;
  le16 minor;
  le16 patch;
  uint8_t stub_and_type;
  uint8_t wide_and_platform;
  le16 os_major;
  uint8_t os_minor;
  uint8_t os_patch;
  le64 file_size;
  Range function_list;
  Range public_metadata;
  Range private_metadata;
  Range bitcode;
};
static_assert(sizeof(Header) == 88 && alignof(Header) == 1);

inline constexpr std::string_view kMagic = "MTLB";
inline constexpr uint16_t kMacosBit = 0x8000;
inline constexpr uint8_t kStubBit = 0x80;
inline constexpr uint8_t kWideBit = 0x80;
inline constexpr uint16_t kContainerMajor = 1;
inline constexpr uint16_t kContainerMinor = 2;
inline constexpr uint16_t kOldestPatch = 2;
inline constexpr uint16_t kNewestPatch = 9;

enum class FileType : uint8_t { executable = 0, core_image = 1, dynamic_library = 2, symbol_companion = 3 };

/// Mach-O's build-platform numbers.
enum class Platform : uint8_t {
  none = 0,  ///< containers through 1.2.5 do not say
  macos = 1,
  ios = 2,
  tvos = 3,
  watchos = 4,
  bridgeos = 5,
  mac_catalyst = 6,
  ios_simulator = 7,
  tvos_simulator = 8,
  watchos_simulator = 9,
  driverkit = 10,
  visionos = 11,
  visionos_simulator = 12,
};

enum class FunctionType : uint8_t {
  vertex = 0,
  fragment = 1,
  kernel = 2,
  unqualified = 3,
  visible = 4,
  external = 5,
  intersection = 6,
  mesh = 7,
  object = 8,
};

/// Before LLVM bitcode; `size` bytes of bitcode at `offset`, then zeros up to a multiple of kBlobAlignment.
struct BitcodeWrapper {
  le32 magic;    // 0x0B17C0DE
  le32 version;  // 0
  le32 offset;   // 20
  le32 size;
  le32 cpu;  // 0xFFFFFFFF
};
static_assert(sizeof(BitcodeWrapper) == 20);

inline constexpr uint32_t kWrapperMagic = 0x0B17C0DE;
inline constexpr uint32_t kWrapperCpu = 0xFFFFFFFF;
inline constexpr uint32_t kBitcodeMagic = 0xDEC04342;  // "BC" C0 DE
inline constexpr uint64_t kBlobAlignment = 16;

/// A reflection buffer's flatbuffer starts at the next such file offset and has this identifier at its byte 4.
inline constexpr uint64_t kReflectionAlignment = 16;
inline constexpr std::string_view kReflectionIdentifier = "AIRR";

// Universal files: magic, u32 count, then entries; all in the byte order that the magic shows.
inline constexpr uint32_t kMachoFatMagic = 0xCAFEBABE;  // always big-endian
inline constexpr uint32_t kMetalFatMagic = 0xCBFEBABE;  // either order
inline constexpr uint64_t kFatEntrySize = 20;           // cpu, subtype, offset, size, log2 of alignment

// Limits on what a file may ask for, far above any real file (574 functions, 11 tags).
inline constexpr uint64_t kMaxFunctions = 1u << 20;
inline constexpr uint64_t kMaxTagsPerGroup = 256;
inline constexpr uint64_t kMaxPadding = 16384;
inline constexpr uint64_t kMaxFatSlices = 64;
inline constexpr uint32_t kMaxFatDepth = 2;
inline constexpr uint64_t kMaxReflectionNodes = 1u << 16;

}  // namespace smelt::metallib
