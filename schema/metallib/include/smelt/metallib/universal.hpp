// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Universal files: several images of one library, or of one binary archive, behind a table. Mach-O's own form and
// Metal's, the latter in either byte order (docs/formats/metallib.md 15).
#pragma once

#include "smelt/metallib/layout.hpp"

#include <string>
#include <vector>

namespace smelt::metallib {

/// CPU numbers used for GPUs.
inline constexpr uint32_t kCpuAppleGpu = 0x1000013, kCpuAmdGpu = 0x1000014, kCpuIntelGpu = 0x1000015,
                          kCpuNvidiaGpu = 0x1000016, kCpuAir64 = 0x1000017;

struct FatSlice {
  uint32_t cpu = 0;
  uint32_t subtype = 0;
  uint32_t offset = 0;
  uint32_t alignment = 0;  ///< as a power of two
  ByteView bytes;          ///< borrowed from the image
};

struct Universal {
  bool metal = true;        ///< Metal's magic; false: Mach-O's
  bool big_endian = false;  ///< always true for Mach-O's
  std::vector<FatSlice> slices;
  uint64_t padding_after = 0;  ///< zero bytes behind the last slice
};

bool is_universal(ByteView bytes);
/// Slices are inside the file, behind the table, apart from each other, with only zeros between; else corrupt.
Result<Universal> read_universal(ByteView bytes);
/// The inverse. Slices stay where their `offset` says; place_slices() finds places for new ones.
Result<Bytes> write_universal(const Universal& universal);
Result<void> place_slices(Universal& universal);

/// A metallib found inside a file.
struct Image {
  std::string where;  ///< "" for the file itself, else e.g. "slice 1 (air64, subtype 12)"
  uint32_t cpu = 0, subtype = 0;
  ByteView bytes;  ///< borrowed
};

/// Each metallib in the file: itself, or the slices of a universal file, or of one inside that. Other slices (GPU code
/// in Mach-O) are passed over. A file without any is not_metallib.
Result<std::vector<Image>> find_images(ByteView bytes);

}  // namespace smelt::metallib
