// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CPU slice: kernels as native code that needs no linker, one relocation-free blob per kernel.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/checks.hpp"
#include "smelt/base/cpu_level.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/schema/cpu_abi.h"

#include <string>
#include <vector>

namespace smelt::schema {

// Slice, format 10. Integers are little-endian; offsets count from the slice's byte 0.
//
//   at  size  field
//    0     4  magic     "SMCS"
//    4     2  format    2, 3 when a kernel uses textures or samplers, 4 when one uses tensors,
//                      7 when one uses function tables, 9 when one is checked, 10 when one's groups wait
//    6     2  oldest    lowest reader that may open this slice
//    8     4  arch      CpuArch
//   12     4  level     x86-64: 3 or 4 (psABI); aarch64: 0
//   16     8  size      of the whole slice
//   24   8+8  rows      offset, size of the kernel rows (encoded by cpu_slice.cpp)
//   40   8+8  code      offset, size of all code blobs; each blob starts on a multiple of 64
//   56    32  digest    SHA-256 of bytes 0..55 and of the rows; each row holds its own blob's digest
//
// Code is position-independent, has no writable data, no relocations and no imports. It is never executed where it
// lies: the loader copies a kernel's blob to a multiple of 4096 (aarch64 addresses its constants by page), checks the
// copy's digest, and only then makes that copy executable.
//
// Format 2 code may read smelt_cpu_dispatch::private_buffers, which a loader of format 1 does not give; else the two
// are the same.
//
// Format 3 code may read smelt_cpu_dispatch::textures and samplers; a slice whose kernels do not is written as
// format 2. Format 4 code may read smelt_cpu_dispatch::tensor_layout. Format 7 code reads smelt_cpu_function_table,
// which older loaders do not bind. Checked code of format 8 writes smelt_cpu_fault::place, that of format 9 also
// variables, for which the record of older loaders has no room, and asks smelt_cpu_services which textures and samplers
// there are. Code that watches its threads is format 9 with smelt_cpu_watch as it is now; what older formats have of it
// is not run. Of format 10 the groups of a kernel may wait for each other (CpuKernel::waits): older loaders would run
// them one after the other, without end.
//
// Every bit is accounted for: header and rows by `digest`, code by the rows' digests, padding must be zero.
inline constexpr uint32_t kCpuSliceMagic = 0x53434d53;  // "SMCS"
inline constexpr uint16_t kCpuSliceFormat = 10;
inline constexpr uint16_t kCpuSliceOldest = 2;
inline constexpr uint16_t kCpuSliceWithTextures = 3;
inline constexpr uint16_t kCpuSliceWithTensors = 4;
inline constexpr uint16_t kCpuSliceWithTables = 7;
inline constexpr uint16_t kCpuSliceThatChecks = 9;
inline constexpr uint16_t kCpuSliceThatWaits = 10;
inline constexpr size_t kCpuSliceHeaderBytes = 88;

using smelt::CpuArch;

/// What one call of the entry point covers (smelt_cpu_range).
enum class CpuRangeKind : uint8_t { threads = 0, groups = 1 };

/// A buffer that the kernel touches only by order-insensitive atomics whose result is unused: the loader may give each
/// worker a private copy (filled with the operation's neutral element), say so in smelt_cpu_dispatch::private_buffers,
/// so that the code does without locks, and merge the copies at the end.
struct CpuPrivateBuffer {
  enum class Operation : uint8_t { add_i32, add_f32, min_s32, max_s32, min_u32, max_u32, and_i32, or_i32, xor_i32 };
  static constexpr Operation kLastOperation = Operation::xor_i32;
  uint32_t buffer = 0;
  Operation operation = Operation::add_i32;
};

/// Where one function constant lies in smelt_cpu_dispatch::constants. A byte at `defined_offset` is 1 when it was
/// given.
struct CpuConstant {
  uint32_t index = 0;
  uint32_t offset = 0;
  uint32_t bytes = 0;
  uint32_t defined_offset = 0;
};

/// One kernel's code and what the loader must know to run it.
struct CpuKernel {
  std::string name;
  CpuRangeKind range = CpuRangeKind::threads;
  bool waits = false;        ///< a loop goes on until memory says that it is to end: groups may wait for each other
  Checks checked;            ///< reports through smelt_cpu_dispatch::fault and, where it watches, services->watch
  uint64_t code_offset = 0;  ///< from the slice's byte 0
  uint64_t code_bytes = 0;
  uint64_t entry_offset = 0;  ///< from the blob's start
  Digest code_digest;
  uint32_t threadgroup_bytes = 0;  ///< static threadgroup memory, at the start of scratch
  uint32_t fixed_bytes = 0;        ///< scratch before the per-thread part
  uint32_t bytes_per_thread = 0;
  uint32_t constants_bytes = 0;
  std::vector<CpuConstant> constants;
  std::vector<CpuPrivateBuffer> private_buffers;
  std::string method;                 ///< how it was made: "loop", "lanes", "regions"; for people
  uint16_t oldest = kCpuSliceOldest;  ///< the reader that its code needs; not in the row: read, it is the slice's own
};

/// A slice being read or about to be written. `code` holds the blobs in row order while writing; a reader leaves it
/// empty and slices the input by code_offset.
struct CpuSlice {
  CpuArch arch = CpuArch::x86_64;
  uint32_t level = 3;
  std::vector<CpuKernel> kernels;
};

/// Deterministic: same kernels and code, same bytes. `code[i]` belongs to `kernels[i]`; offsets and digests are filled
/// in.
Result<Bytes> write_cpu_slice(CpuSlice slice, const std::vector<Bytes>& code);

/// Checks the header, its digest, every range and the padding; does not hash code (the loader does, on its copy).
/// A newer format is `format_newer`, never `corrupt`.
Result<CpuSlice> read_cpu_slice(ByteView bytes);

}  // namespace smelt::schema
