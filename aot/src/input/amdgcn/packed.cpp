// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "input/amdgcn/packed.hpp"

namespace smelt::aot::input::amdgcn {

llvm::Value* small_to_float(llvm::IRBuilder<>& ir, llvm::Value* value) {
  if (value->getType()->isHalfTy()) return ir.CreateFPExt(value, ir.getFloatTy());
  // A bfloat is the upper half of a float; said in integers it needs no target that knows the type.
  if (value->getType()->isBFloatTy()) value = ir.CreateBitCast(value, ir.getInt16Ty());
  return ir.CreateBitCast(ir.CreateShl(ir.CreateZExt(value, ir.getInt32Ty()), 16), ir.getFloatTy());
}

llvm::Value* packed_integer(llvm::IRBuilder<>& ir, llvm::Value* word, unsigned index, unsigned bits, bool is_signed) {
  const unsigned above = 32 - bits * (index + 1);
  llvm::Value* const top = ir.CreateShl(word, above);
  return is_signed ? ir.CreateAShr(top, 32 - bits) : ir.CreateLShr(top, 32 - bits);
}

llvm::Value* add_saturating(llvm::IRBuilder<>& ir, llvm::Value* x, llvm::Value* y, bool is_signed) {
  return ir.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat, x, y);
}

}  // namespace smelt::aot::input::amdgcn
