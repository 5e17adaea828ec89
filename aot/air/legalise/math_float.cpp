// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point intrinsics without an AIR operation, on bits or by the operations that there are.
#include "legalise/math_expansions.hpp"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

/// Layout of a float format.
struct Format {
  unsigned bits, fraction_bits;
  uint64_t sign() const { return 1ull << (bits - 1); }
  uint64_t fraction() const { return (1ull << fraction_bits) - 1; }
  uint64_t infinity() const { return (sign() - 1) & ~fraction(); }
};

Format format_of(const llvm::Type* type) {
  if (type->isHalfTy()) return {16, 10};
  if (type->isBFloatTy()) return {16, 7};
  return {32, 23};
}

struct Bits {
  llvm::IRBuilder<>& ir;
  llvm::Type* floats;
  Format format;
  llvm::Type* integers;

  Bits(llvm::IRBuilder<>& builder, llvm::Type* type)
      : ir(builder),
        floats(type),
        format(format_of(type->getScalarType())),
        integers(type->getWithNewType(builder.getIntNTy(format.bits))) {}
  llvm::Value* of(llvm::Value* value) const { return ir.CreateBitCast(value, integers); }
  llvm::Value* back(llvm::Value* value) const { return ir.CreateBitCast(value, floats); }
  llvm::Value* constant(uint64_t value) const { return llvm::ConstantInt::get(integers, value); }
};

llvm::Value* copysign(MathBuilder& math, llvm::Value* magnitude, llvm::Value* sign) {
  const Bits bits(math.ir, magnitude->getType());
  llvm::Value* kept = math.ir.CreateAnd(bits.of(magnitude), bits.constant(bits.format.sign() - 1));
  llvm::Value* taken = math.ir.CreateAnd(bits.of(sign), bits.constant(bits.format.sign()));
  return bits.back(math.ir.CreateOr(kept, taken));
}

/// IEEE 754-2019 minimum and maximum: NaN wins, and -0 is less than +0.
Result<llvm::Value*> minimum_or_maximum(MathBuilder& math, llvm::Value* x, llvm::Value* y, bool is_minimum) {
  llvm::Type* const type = x->getType();
  llvm::Value* result = nullptr;
  if (type->getScalarType()->isBFloatTy()) {
    llvm::Value* pick = is_minimum ? math.ir.CreateFCmpOLT(x, y) : math.ir.CreateFCmpOGT(x, y);
    result = math.ir.CreateSelect(pick, x, y);
  } else {
    SMELT_TRY(result, math.air(is_minimum ? "fmin" : "fmax", {x, y}, false));
  }
  const llvm::FastMathFlags flags = math.ir.getFastMathFlags();
  if (!flags.noSignedZeros()) {  // equal values differ in their sign alone: or keeps a minus, and drops it
    const Bits bits(math.ir, type);
    llvm::Value* both =
        is_minimum ? math.ir.CreateOr(bits.of(x), bits.of(y)) : math.ir.CreateAnd(bits.of(x), bits.of(y));
    result = math.ir.CreateSelect(math.ir.CreateFCmpOEQ(x, y), bits.back(both), result);
  }
  if (!flags.noNaNs()) {
    llvm::Value* unordered = math.ir.CreateFCmpUNO(x, y);
    result = math.ir.CreateSelect(unordered, llvm::ConstantFP::getNaN(type), result);
  }
  return result;
}

/// Which of LLVM's ten classes a value is in, on its bits: immune to fast-math flags.
llvm::Value* is_fpclass(MathBuilder& math, llvm::Value* value, unsigned mask) {
  const Bits bits(math.ir, value->getType());
  llvm::IRBuilder<>& ir = math.ir;
  const Format& f = bits.format;
  llvm::Value* const raw = bits.of(value);
  llvm::Value* const magnitude = ir.CreateAnd(raw, bits.constant(f.sign() - 1));
  llvm::Value* const negative = ir.CreateICmpNE(ir.CreateAnd(raw, bits.constant(f.sign())), bits.constant(0));
  const uint64_t quiet = 1ull << (f.fraction_bits - 1);
  const auto between = [&](uint64_t low, uint64_t high) {  // low <= magnitude <= high
    return ir.CreateICmpULE(ir.CreateSub(magnitude, bits.constant(low)), bits.constant(high - low));
  };
  llvm::Value* found = llvm::ConstantInt::getFalse(negative->getType());
  const auto add = [&](unsigned negative_bit, unsigned positive_bit, uint64_t low, uint64_t high) {
    const bool with_negative = mask & negative_bit;
    const bool with_positive = mask & positive_bit;
    if (!with_negative && !with_positive) return;
    llvm::Value* in = between(low, high);
    if (!with_positive) in = ir.CreateAnd(in, negative);
    if (!with_negative) in = ir.CreateAnd(in, ir.CreateNot(negative));
    found = ir.CreateOr(found, in);
  };
  const uint64_t infinity = f.infinity();
  add(llvm::fcSNan, llvm::fcSNan, infinity + 1, infinity + quiet - 1);
  add(llvm::fcQNan, llvm::fcQNan, infinity + quiet, f.sign() - 1);
  add(llvm::fcNegInf, llvm::fcPosInf, infinity, infinity);
  add(llvm::fcNegNormal, llvm::fcPosNormal, f.fraction() + 1, infinity - 1);
  add(llvm::fcNegSubnormal, llvm::fcPosSubnormal, 1, f.fraction());
  add(llvm::fcNegZero, llvm::fcPosZero, 0, 0);
  return found;
}

llvm::Value* to_single(MathBuilder& math, llvm::Value* value) {
  llvm::Type* const single = value->getType()->getWithNewType(math.ir.getFloatTy());
  return value->getType() == single ? value : math.ir.CreateFPExt(value, single);
}
llvm::Value* from_single(MathBuilder& math, llvm::Value* value, llvm::Type* type) {
  return value->getType() == type ? value : math.ir.CreateFPTrunc(value, type);
}

/// x^n with a whole n: pow knows the sign of odd powers.
Result<llvm::Value*> powi(MathBuilder& math, llvm::Value* x, llvm::Value* n) {
  llvm::Value* const wide = to_single(math, x);
  llvm::Value* power = math.ir.CreateSIToFP(n, math.ir.getFloatTy());
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(wide->getType()))
    power = math.ir.CreateVectorSplat(vector->getNumElements(), power);
  SMELT_TRY(llvm::Value* const result, math.air("pow", {wide, power}, true));
  return from_single(math, result, x->getType());
}

/// Through float, where half's result is rounded once: ldexp itself is exact.
Result<llvm::Value*> ldexp(MathBuilder& math, llvm::Value* x, llvm::Value* n) {
  llvm::Type* const exponent = n->getType()->getWithNewType(math.ir.getInt32Ty());
  SMELT_TRY(llvm::Value* const result,
            math.air("ldexp", {to_single(math, x), math.ir.CreateSExtOrTrunc(n, exponent)}, true));
  return from_single(math, result, x->getType());
}

/// { fraction in [0.5, 1), exponent }, by moving the exponent field; zero, infinity and NaN come back with exponent 0.
llvm::Value* frexp(MathBuilder& math, llvm::IntrinsicInst& call) {
  llvm::IRBuilder<>& ir = math.ir;
  llvm::Value* const x = call.getArgOperand(0);
  llvm::Value* const wide = to_single(math, x);
  llvm::Type* const floats = wide->getType();
  const Bits bits(ir, floats);
  const auto exponent_field = [&](llvm::Value* raw) {
    return ir.CreateAnd(ir.CreateLShr(raw, bits.constant(23)), bits.constant(0xFF));
  };
  // Subnormals are scaled up by 2^32 first, which is exact.
  llvm::Value* const raw = bits.of(wide);
  llvm::Value* const is_small = ir.CreateICmpEQ(exponent_field(raw), bits.constant(0));
  llvm::Value* const scaled = ir.CreateFMul(wide, llvm::ConstantFP::get(floats, 4294967296.0));
  llvm::Value* const used = ir.CreateSelect(is_small, bits.of(scaled), raw);
  llvm::Value* const bias = ir.CreateSelect(is_small, bits.constant(126 + 32), bits.constant(126));
  llvm::Value* const field = exponent_field(used);
  llvm::Value* const fraction =
      bits.back(ir.CreateOr(ir.CreateAnd(used, bits.constant(0x807FFFFF)), bits.constant(126u << 23)));
  llvm::Value* const is_special =
      ir.CreateOr(ir.CreateICmpEQ(field, bits.constant(0)), ir.CreateICmpEQ(field, bits.constant(0xFF)));
  llvm::Value* const exponent = ir.CreateSelect(is_special, bits.constant(0), ir.CreateSub(field, bias));
  llvm::Value* const answer = from_single(math, ir.CreateSelect(is_special, wide, fraction), x->getType());
  llvm::Type* const exponent_type = call.getType()->getStructElementType(1);
  llvm::Value* pair = ir.CreateInsertValue(llvm::PoisonValue::get(call.getType()), answer, 0);
  return ir.CreateInsertValue(pair, ir.CreateSExtOrTrunc(exponent, exponent_type), 1);
}

/// Float to integer where what does not fit becomes the nearest that does, and NaN zero.
llvm::Value* saturating(MathBuilder& math, llvm::IntrinsicInst& call, bool is_signed) {
  llvm::IRBuilder<>& ir = math.ir;
  llvm::Value* const x = to_single(math, call.getArgOperand(0));
  llvm::Type* const type = call.getType();
  const unsigned bits = type->getScalarSizeInBits();
  const llvm::APInt low = is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getZero(bits);
  const llvm::APInt high = is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  llvm::APFloat low_float(llvm::APFloat::IEEEsingle());
  llvm::APFloat high_float(llvm::APFloat::IEEEsingle());
  low_float.convertFromAPInt(low, is_signed, llvm::APFloat::rmTowardZero);
  high_float.convertFromAPInt(high, is_signed, llvm::APFloat::rmTowardZero);  // the largest float that still fits
  llvm::Value* const inside = is_signed ? ir.CreateFPToSI(x, type) : ir.CreateFPToUI(x, type);
  llvm::Value* result = ir.CreateSelect(ir.CreateFCmpOLT(x, llvm::ConstantFP::get(x->getType(), low_float)),
                                        llvm::ConstantInt::get(type, low), inside);
  result = ir.CreateSelect(ir.CreateFCmpOGT(x, llvm::ConstantFP::get(x->getType(), high_float)),
                           llvm::ConstantInt::get(type, high), result);
  return ir.CreateSelect(ir.CreateFCmpUNO(x, x), llvm::ConstantInt::get(type, 0), result);
}

Result<llvm::Value*> round_to_integer(MathBuilder& math, llvm::IntrinsicInst& call, std::string_view operation) {
  SMELT_TRY(llvm::Value* const rounded, math.air(operation, {to_single(math, call.getArgOperand(0))}, true));
  return math.ir.CreateFPToSI(rounded, call.getType());
}

}  // namespace

Result<llvm::Value*> expand_float_intrinsic(MathBuilder& math, llvm::IntrinsicInst& call) {
  llvm::IRBuilder<>& ir = math.ir;
  const auto operand = [&](unsigned index) { return call.getArgOperand(index); };
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::copysign:
      return copysign(math, operand(0), operand(1));
    case llvm::Intrinsic::minimum:
      return minimum_or_maximum(math, operand(0), operand(1), true);
    case llvm::Intrinsic::maximum:
      return minimum_or_maximum(math, operand(0), operand(1), false);
    case llvm::Intrinsic::is_fpclass:
      return is_fpclass(math, operand(0),
                        static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(operand(1))->getZExtValue()));
    case llvm::Intrinsic::powi:
      return powi(math, operand(0), operand(1));
    case llvm::Intrinsic::ldexp:
      return ldexp(math, operand(0), operand(1));
    case llvm::Intrinsic::frexp:
      return frexp(math, call);
    case llvm::Intrinsic::fptosi_sat:
      return saturating(math, call, true);
    case llvm::Intrinsic::fptoui_sat:
      return saturating(math, call, false);
    case llvm::Intrinsic::lrint:
    case llvm::Intrinsic::llrint:
      return round_to_integer(math, call, "rint");
    case llvm::Intrinsic::lround:
    case llvm::Intrinsic::llround:
      return round_to_integer(math, call, "round");
    case llvm::Intrinsic::canonicalize: {  // a multiplication quiets NaNs and flushes what the mode flushes
      ir.clearFastMathFlags();
      return ir.CreateFMul(operand(0), llvm::ConstantFP::get(call.getType(), 1.0));
    }
    case llvm::Intrinsic::arithmetic_fence:
      return operand(0);
    case llvm::Intrinsic::convert_to_fp16: {
      llvm::Value* half = ir.CreateFPTrunc(operand(0), ir.getHalfTy());
      return ir.CreateBitCast(half, call.getType());
    }
    case llvm::Intrinsic::convert_from_fp16:
      return ir.CreateFPExt(ir.CreateBitCast(operand(0), ir.getHalfTy()), call.getType());
    default:
      return nullptr;
  }
}

}  // namespace smelt::aot::air
