// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's .npy files (format 1.0 to 3.0, as NumPy's documentation of numpy.lib.format describes them): what `smelt run`
// reads and writes.
#pragma once

#include "smelt/base/bytes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace smelt::cli {

struct NpyArray {
  std::string type;  ///< "f32", "i64", ...
  std::vector<uint64_t> shape;
  bool fortran_order = false;
  Bytes data;
  uint64_t elements() const;
};

/// Bytes of one element of a type word: f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool; bf16 counts as 2 bytes.
Result<uint32_t> element_bytes(std::string_view type);

/// Bounded; the data must be exactly as long as shape and type say.
Result<NpyArray> read_npy(ByteView file);
/// Format 1.0. bf16 is written as u16, since NumPy has no such type.
Bytes write_npy(const NpyArray& array);

}  // namespace smelt::cli
