// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/amdgcn/packed.hpp"

#include <cmath>

namespace smelt::aot::input::amdgcn {

llvm::Value* small_to_float(llvm::IRBuilder<>& ir, llvm::Value* value) {
  if (value->getType()->isHalfTy()) return ir.CreateFPExt(value, ir.getFloatTy());
  // A bfloat is the upper half of a float; said in integers it needs no target that knows the type.
  if (value->getType()->isBFloatTy()) value = ir.CreateBitCast(value, ir.getInt16Ty());
  return ir.CreateBitCast(ir.CreateShl(ir.CreateZExt(value, ir.getInt32Ty()), 16), ir.getFloatTy());
}

llvm::Value* byte_to_float(llvm::IRBuilder<>& ir, llvm::Value* byte, unsigned exponent_bits) {
  const unsigned fraction_bits = 7 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  llvm::Value* const sign = ir.CreateShl(ir.CreateAnd(byte, 0x80), 24);
  llvm::Value* const rest = ir.CreateAnd(byte, 0x7f);
  llvm::Value* const normal =
      ir.CreateAdd(ir.CreateShl(rest, 23 - fraction_bits), ir.getInt32(static_cast<uint32_t>(127 - bias) << 23));
  // Without exponent: whole multiples of the smallest number.
  llvm::Value* const unit = llvm::ConstantFP::get(ir.getFloatTy(), std::ldexp(1.0, 1 - bias - int(fraction_bits)));
  llvm::Value* const few =
      ir.CreateBitCast(ir.CreateFMul(ir.CreateUIToFP(rest, ir.getFloatTy()), unit), ir.getInt32Ty());
  llvm::Value* bits = ir.CreateSelect(ir.CreateICmpULT(rest, ir.getInt32(1U << fraction_bits)), few, normal);
  // All exponent bits set: infinity and NaN of e5m2; of e4m3 only the very last is no number.
  const uint32_t special = exponent_bits == 4 ? 0x7f : 0x7c;
  llvm::Value* const fraction = ir.CreateShl(ir.CreateAnd(rest, (1U << fraction_bits) - 1), 23 - fraction_bits);
  bits = ir.CreateSelect(ir.CreateICmpUGE(rest, ir.getInt32(special)), ir.CreateOr(fraction, 0x7f800000), bits);
  return ir.CreateBitCast(ir.CreateOr(bits, sign), ir.getFloatTy());
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
