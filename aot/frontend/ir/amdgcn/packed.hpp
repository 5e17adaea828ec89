// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small numbers inside words, as dot products and matrices of AMD take them.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace smelt::aot::input::amdgcn {

/// A half, a bfloat or a bfloat's bits in i16, as float.
llvm::Value* small_to_float(llvm::IRBuilder<>& ir, llvm::Value* value);

/// The float that a byte (an i32 below 256) is with 4 exponent bits (e4m3 as OCP has it: no infinities, one NaN) or 5
/// (e5m2), exactly. Nothing passes through a number so small that a GPU would flush it.
llvm::Value* byte_to_float(llvm::IRBuilder<>& ir, llvm::Value* byte, unsigned exponent_bits);

/// Field `index` of `bits` bits of an i32, as i32.
llvm::Value* packed_integer(llvm::IRBuilder<>& ir, llvm::Value* word, unsigned index, unsigned bits, bool is_signed);

/// x + y in 32 bits, stopping at the ends; `x` may be signed even when the answer is not.
llvm::Value* add_saturating(llvm::IRBuilder<>& ir, llvm::Value* x, llvm::Value* y, bool is_signed);

}  // namespace smelt::aot::input::amdgcn
