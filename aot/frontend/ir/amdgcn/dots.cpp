// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of packed small numbers, added up (docs/formats/triton-amdgcn.md 4.4). The float forms round once a step, in
// the order of AMD's pseudo-code: c, then the products from the lowest on.
#include "ir/amdgcn/packed.hpp"
#include "ir/amdgcn/site.hpp"

#include "llvm/IR/Constants.h"

namespace smelt::aot::input::amdgcn {
namespace {

using llvm::Value;

/// c + a[0]*b[0] + a[1]*b[1] of halves or bfloats. In float; rounded once at the end where the result is small too.
Result<Value*> float_dot(Site& site) {
  llvm::IRBuilder<>& ir = site.ir();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(site.argument(0)->getType());
  if (!vector) return site.refuse("its operands are not vectors");
  const bool is_small = !site.type()->isFloatTy();
  Value* sum = is_small ? small_to_float(ir, site.argument(2)) : site.argument(2);
  for (unsigned i = 0; i < vector->getNumElements(); ++i) {
    Value* const a = small_to_float(ir, ir.CreateExtractElement(site.argument(0), i));
    Value* const b = small_to_float(ir, ir.CreateExtractElement(site.argument(1), i));
    sum = site.air("air.fma.f32", ir.getFloatTy(), {a, b, sum}, false);
  }
  if (site.call().arg_size() > 3) {
    const auto clamp = site.constant(3);
    if (!clamp) return site.refuse("the clamp must be a constant");
    if (*clamp) sum = site.air("air.saturate.f32", ir.getFloatTy(), {sum}, false);
  }
  if (!is_small) return sum;
  if (!site.type()->isHalfTy() && !site.type()->isBFloatTy()) return site.refuse("its result must be half or bfloat");
  return ir.CreateFPTrunc(sum, site.type());
}

struct Operands {
  Value* a;
  Value* b;
  Value* c;
  bool a_signed, b_signed, clamp;
};

/// The sum of the products of all fields of `bits` bits, and c; wraps, or stops at the ends with clamp.
Result<Value*> integer_dot(Site& site, const Operands& operands, unsigned bits) {
  llvm::IRBuilder<>& ir = site.ir();
  if (!site.type()->isIntegerTy(32)) return site.refuse("only sums of 32 bits are supported");
  const auto word = [&](Value* value) { return ir.CreateBitCast(value, ir.getInt32Ty()); };
  Value* const a = word(operands.a);
  Value* const b = word(operands.b);
  Value* sum = operands.clamp ? ir.getInt32(0) : operands.c;
  for (unsigned i = 0; i < 32 / bits; ++i)
    sum = ir.CreateAdd(sum, ir.CreateMul(packed_integer(ir, a, i, bits, operands.a_signed),
                                         packed_integer(ir, b, i, bits, operands.b_signed)));
  if (!operands.clamp) return sum;
  return add_saturating(ir, sum, operands.c, operands.a_signed || operands.b_signed);
}

Result<Value*> same_sign_dot(Site& site, unsigned bits, bool is_signed) {
  const auto clamp = site.constant(3);
  if (!clamp) return site.refuse("the clamp must be a constant");
  return integer_dot(site, {site.argument(0), site.argument(1), site.argument(2), is_signed, is_signed, *clamp != 0},
                     bits);
}

/// sudot(sign a, a, sign b, b, c, clamp)
Result<Value*> own_signs_dot(Site& site, unsigned bits) {
  const auto a_signed = site.constant(0), b_signed = site.constant(2), clamp = site.constant(5);
  if (!a_signed || !b_signed || !clamp) return site.refuse("the signs and the clamp must be constants");
  return integer_dot(
      site, {site.argument(1), site.argument(3), site.argument(4), *a_signed != 0, *b_signed != 0, *clamp != 0}, bits);
}

constexpr Row kDotRows[] = {
    {"fdot2", float_dot},
    {"fdot2.f32.bf16", float_dot},
    {"sdot2", [](Site& site) { return same_sign_dot(site, 16, true); }},
    {"udot2", [](Site& site) { return same_sign_dot(site, 16, false); }},
    {"sdot4", [](Site& site) { return same_sign_dot(site, 8, true); }},
    {"udot4", [](Site& site) { return same_sign_dot(site, 8, false); }},
    {"sdot8", [](Site& site) { return same_sign_dot(site, 4, true); }},
    {"udot8", [](Site& site) { return same_sign_dot(site, 4, false); }},
    {"sudot4", [](Site& site) { return own_signs_dot(site, 8); }},
    {"sudot8", [](Site& site) { return own_signs_dot(site, 4); }},
};

}  // namespace

std::span<const Row> dot_rows() {
  return kDotRows;
}

}  // namespace smelt::aot::input::amdgcn
