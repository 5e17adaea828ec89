// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer intrinsics: AIR's counting operations, and compare-and-select for the rest.
#include "legalise/math_expansions.hpp"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

using Predicate = llvm::CmpInst::Predicate;

/// Counting is done in the next of 8, 16, 32, 64 bits; `fix` corrects what the wider type counted.
struct Counted {
  llvm::Value* value;
  unsigned bits, extra;
};

Counted widen(llvm::IRBuilder<>& ir, llvm::Value* value, bool at_top) {
  const unsigned bits = value->getType()->getScalarSizeInBits();
  unsigned wide = bits;
  for (const unsigned width : {64u, 32u, 16u, 8u})
    if (bits <= width) wide = width;
  if (wide == bits || bits > 64) return {value, bits, 0};
  llvm::Type* const type = value->getType()->getWithNewType(ir.getIntNTy(wide));
  llvm::Value* extended = ir.CreateZExt(value, type);
  if (at_top) extended = ir.CreateShl(extended, wide - bits);
  return {extended, bits, wide - bits};
}

Result<llvm::Value*> count_zeros(MathBuilder& math, llvm::IntrinsicInst& call, bool leading) {
  llvm::IRBuilder<>& ir = math.ir;
  llvm::Value* const x = call.getArgOperand(0);
  const Counted wide = widen(ir, x, false);
  llvm::Value* counted = wide.value;
  if (wide.extra != 0 && !leading)  // a one above the value stops the count at its width
    counted = ir.CreateOr(counted, llvm::ConstantInt::get(counted->getType(), 1ull << wide.bits));
  SMELT_TRY(llvm::Value * count, math.air(leading ? "clz" : "ctz", {counted, ir.getFalse()}, false));
  if (wide.extra != 0 && leading) count = ir.CreateSub(count, llvm::ConstantInt::get(count->getType(), wide.extra));
  return ir.CreateTrunc(count, x->getType());
}

Result<llvm::Value*> unary(MathBuilder& math, llvm::IntrinsicInst& call, std::string_view operation, bool at_top) {
  llvm::Value* const x = call.getArgOperand(0);
  const Counted wide = widen(math.ir, x, at_top);
  SMELT_TRY(llvm::Value* const result, math.air(operation, {wide.value}, false));
  return math.ir.CreateTrunc(result, x->getType());
}

llvm::Value* byte_swap(llvm::IRBuilder<>& ir, llvm::Value* x) {
  const unsigned bits = x->getType()->getScalarSizeInBits();
  llvm::Value* result = nullptr;
  for (unsigned from = 0; from < bits; from += 8) {
    const unsigned to = bits - 8 - from;
    llvm::Value* moved = to > from ? ir.CreateShl(x, to - from) : ir.CreateLShr(x, from - to);
    moved = ir.CreateAnd(moved, llvm::ConstantInt::get(x->getType(), llvm::APInt::getBitsSet(bits, to, to + 8)));
    result = result ? ir.CreateOr(result, moved) : moved;
  }
  return result;
}

/// (hi:lo) shifted, without a shift by the whole width.
llvm::Value* funnel_shift(llvm::IRBuilder<>& ir, llvm::IntrinsicInst& call, bool left) {
  llvm::Value* const high = call.getArgOperand(0);
  llvm::Value* const low = call.getArgOperand(1);
  llvm::Type* const type = high->getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Value* const amount = ir.CreateURem(call.getArgOperand(2), llvm::ConstantInt::get(type, bits));
  llvm::Value* const rest = ir.CreateSub(llvm::ConstantInt::get(type, bits - 1), amount);
  if (left) return ir.CreateOr(ir.CreateShl(high, amount), ir.CreateLShr(ir.CreateLShr(low, 1), rest));
  return ir.CreateOr(ir.CreateShl(ir.CreateShl(high, 1), rest), ir.CreateLShr(low, amount));
}

llvm::Value* pick(llvm::IRBuilder<>& ir, llvm::IntrinsicInst& call, Predicate predicate) {
  llvm::Value* const x = call.getArgOperand(0);
  llvm::Value* const y = call.getArgOperand(1);
  return ir.CreateSelect(ir.CreateICmp(predicate, x, y), x, y);
}

llvm::Value* unsigned_saturating(llvm::IRBuilder<>& ir, llvm::IntrinsicInst& call, bool adds) {
  llvm::Value* const x = call.getArgOperand(0);
  llvm::Value* const y = call.getArgOperand(1);
  llvm::Type* const type = x->getType();
  if (!adds) return ir.CreateSelect(ir.CreateICmpULT(x, y), llvm::ConstantInt::get(type, 0), ir.CreateSub(x, y));
  llvm::Value* const sum = ir.CreateAdd(x, y);
  return ir.CreateSelect(ir.CreateICmpULT(sum, x), llvm::Constant::getAllOnesValue(type), sum);
}

struct Overflowing {
  llvm::Value* result;
  llvm::Value* overflowed;
};

Overflowing signed_sum(llvm::IRBuilder<>& ir, llvm::Value* x, llvm::Value* y, bool adds) {
  llvm::Value* const result = adds ? ir.CreateAdd(x, y) : ir.CreateSub(x, y);
  // The sign came out wrong: for a sum, differs from both; for a difference, x and y differ and so do x and the result.
  llvm::Value* const first = adds ? ir.CreateXor(x, result) : ir.CreateXor(x, y);
  llvm::Value* const second = adds ? ir.CreateXor(y, result) : ir.CreateXor(x, result);
  llvm::Value* const zero = llvm::ConstantInt::get(x->getType(), 0);
  return {result, ir.CreateICmpSLT(ir.CreateAnd(first, second), zero)};
}

llvm::Value* signed_saturating(llvm::IRBuilder<>& ir, llvm::IntrinsicInst& call, bool adds) {
  llvm::Value* const x = call.getArgOperand(0);
  llvm::Type* const type = x->getType();
  const unsigned bits = type->getScalarSizeInBits();
  const Overflowing sum = signed_sum(ir, x, call.getArgOperand(1), adds);
  llvm::Value* const negative = ir.CreateICmpSLT(x, llvm::ConstantInt::get(type, 0));
  llvm::Value* const limit =
      ir.CreateSelect(negative, llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits)),
                      llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(bits)));
  return ir.CreateSelect(sum.overflowed, limit, sum.result);
}

/// The product, and whether its high half says more than the sign (or zero).
Result<Overflowing> product(MathBuilder& math, llvm::Value* x, llvm::Value* y, bool is_signed) {
  llvm::IRBuilder<>& ir = math.ir;
  llvm::Type* const type = x->getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Value* const low = ir.CreateMul(x, y);
  llvm::Value* high = nullptr;
  if (bits == 8 || bits == 16 || bits == 32 || bits == 64) {
    SMELT_TRY(high, math.air("mul_hi", {x, y}, false, is_signed ? 's' : 'u'));
  } else {
    if (bits > 32) return refuse(math.replaced, "no multiplication with overflow of {} bits", bits);
    llvm::Type* const wide = type->getWithNewType(ir.getInt64Ty());
    const auto extend = [&](llvm::Value* v) { return is_signed ? ir.CreateSExt(v, wide) : ir.CreateZExt(v, wide); };
    high = ir.CreateTrunc(ir.CreateLShr(ir.CreateMul(extend(x), extend(y)), bits), type);
  }
  llvm::Value* const expected = is_signed ? ir.CreateAShr(low, bits - 1) : llvm::ConstantInt::get(type, 0);
  return Overflowing{low, ir.CreateICmpNE(high, expected)};
}

llvm::Value* pair_of(llvm::IRBuilder<>& ir, llvm::IntrinsicInst& call, const Overflowing& value) {
  llvm::Value* pair = ir.CreateInsertValue(llvm::PoisonValue::get(call.getType()), value.result, 0);
  return ir.CreateInsertValue(pair, value.overflowed, 1);
}

Result<llvm::Value*> with_overflow(MathBuilder& math, llvm::IntrinsicInst& call) {
  llvm::IRBuilder<>& ir = math.ir;
  llvm::Value* const x = call.getArgOperand(0);
  llvm::Value* const y = call.getArgOperand(1);
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::uadd_with_overflow: {
      llvm::Value* sum = ir.CreateAdd(x, y);
      return pair_of(ir, call, {sum, ir.CreateICmpULT(sum, x)});
    }
    case llvm::Intrinsic::usub_with_overflow:
      return pair_of(ir, call, {ir.CreateSub(x, y), ir.CreateICmpULT(x, y)});
    case llvm::Intrinsic::sadd_with_overflow:
      return pair_of(ir, call, signed_sum(ir, x, y, true));
    case llvm::Intrinsic::ssub_with_overflow:
      return pair_of(ir, call, signed_sum(ir, x, y, false));
    default: {
      SMELT_TRY(const Overflowing value,
                product(math, x, y, call.getIntrinsicID() == llvm::Intrinsic::smul_with_overflow));
      return pair_of(ir, call, value);
    }
  }
}

/// -1, 0 or 1.
llvm::Value* three_way(llvm::IRBuilder<>& ir, llvm::IntrinsicInst& call, bool is_signed) {
  llvm::Value* const x = call.getArgOperand(0);
  llvm::Value* const y = call.getArgOperand(1);
  llvm::Value* const more = is_signed ? ir.CreateICmpSGT(x, y) : ir.CreateICmpUGT(x, y);
  llvm::Value* const less = is_signed ? ir.CreateICmpSLT(x, y) : ir.CreateICmpULT(x, y);
  return ir.CreateSub(ir.CreateZExt(more, call.getType()), ir.CreateZExt(less, call.getType()));
}

}  // namespace

Result<llvm::Value*> expand_integer_intrinsic(MathBuilder& math, llvm::IntrinsicInst& call) {
  llvm::IRBuilder<>& ir = math.ir;
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::ctlz:
      return count_zeros(math, call, true);
    case llvm::Intrinsic::cttz:
      return count_zeros(math, call, false);
    case llvm::Intrinsic::ctpop:
      return unary(math, call, "popcount", false);
    case llvm::Intrinsic::bitreverse:
      return unary(math, call, "reverse_bits", true);
    case llvm::Intrinsic::bswap:
      return byte_swap(ir, call.getArgOperand(0));
    case llvm::Intrinsic::abs: {
      llvm::Value* const x = call.getArgOperand(0);
      return ir.CreateSelect(ir.CreateICmpSLT(x, llvm::ConstantInt::get(x->getType(), 0)), ir.CreateNeg(x), x);
    }
    case llvm::Intrinsic::smin:
      return pick(ir, call, Predicate::ICMP_SLT);
    case llvm::Intrinsic::smax:
      return pick(ir, call, Predicate::ICMP_SGT);
    case llvm::Intrinsic::umin:
      return pick(ir, call, Predicate::ICMP_ULT);
    case llvm::Intrinsic::umax:
      return pick(ir, call, Predicate::ICMP_UGT);
    case llvm::Intrinsic::fshl:
      return funnel_shift(ir, call, true);
    case llvm::Intrinsic::fshr:
      return funnel_shift(ir, call, false);
    case llvm::Intrinsic::uadd_sat:
      return unsigned_saturating(ir, call, true);
    case llvm::Intrinsic::usub_sat:
      return unsigned_saturating(ir, call, false);
    case llvm::Intrinsic::sadd_sat:
      return signed_saturating(ir, call, true);
    case llvm::Intrinsic::ssub_sat:
      return signed_saturating(ir, call, false);
    case llvm::Intrinsic::uadd_with_overflow:
    case llvm::Intrinsic::usub_with_overflow:
    case llvm::Intrinsic::sadd_with_overflow:
    case llvm::Intrinsic::ssub_with_overflow:
    case llvm::Intrinsic::umul_with_overflow:
    case llvm::Intrinsic::smul_with_overflow:
      return with_overflow(math, call);
    case llvm::Intrinsic::scmp:
      return three_way(ir, call, true);
    case llvm::Intrinsic::ucmp:
      return three_way(ir, call, false);
    case llvm::Intrinsic::ptrmask: {
      llvm::Value* const pointer = call.getArgOperand(0);
      llvm::Value* const address = ir.CreatePtrToInt(pointer, ir.getInt64Ty());
      llvm::Value* const masked = ir.CreateAnd(address, ir.CreateSExt(call.getArgOperand(1), ir.getInt64Ty()));
      return ir.CreatePtrAdd(pointer, ir.CreateSub(masked, address));
    }
    default:
      return nullptr;
  }
}

}  // namespace smelt::aot::air
