// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// air.convert (docs/formats/air.md 3.3, docs/formats/metal-language.md 1.4) and the float formats that it needs.
//
//   float -> integer  toward zero (or as .rte .rtn .rtp say), saturated, NaN gives 0; bool is x != 0
//   integer -> float  to nearest even (or as the suffix says); float -> float the same
//   integer -> integer  truncated or extended, or saturated with .sat; bool is x != 0
#include "lower/convert.hpp"

#include "lower/lowerings.hpp"

#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::cpu {
namespace {

using llvm::Value;

struct Conversion {
  OperandType from, to;
  Rounding rounding = Rounding::unspecified;
  bool saturate = false;
};

std::optional<Conversion> parse_conversion(const AirName& name) {
  if (name.parts.size() < 4) return std::nullopt;
  Conversion result;
  const auto to = parse_operand_type(name.parts[0], name.parts[1]);
  const auto from = parse_operand_type(name.parts[2], name.parts[3]);
  if (!to || !from || to->components != from->components) return std::nullopt;
  if (to->element.is_float() != (name.parts[0] == "f") || from->element.is_float() != (name.parts[2] == "f"))
    return std::nullopt;
  result.to = *to;
  result.from = *from;
  for (const llvm::StringRef suffix : llvm::ArrayRef(name.parts).drop_front(4)) {
    if (suffix == "sat") {
      result.saturate = true;
    } else if (suffix == "rte") {
      result.rounding = Rounding::nearest;
    } else if (suffix == "rtz") {
      result.rounding = Rounding::toward_zero;
    } else if (suffix == "rtn") {
      result.rounding = Rounding::down;
    } else if (suffix == "rtp") {
      result.rounding = Rounding::up;
    } else {
      return std::nullopt;
    }
  }
  return result;
}

llvm::Type* element_type(llvm::LLVMContext& context, const Element& element) {
  switch (element.kind) {
    case ElementKind::single:
      return llvm::Type::getFloatTy(context);
    case ElementKind::half:
      return llvm::Type::getHalfTy(context);
    case ElementKind::bfloat:
      return llvm::Type::getBFloatTy(context);
    default:
      return llvm::Type::getIntNTy(context, element.bits);
  }
}
llvm::Type* air_type(llvm::LLVMContext& context, const OperandType& type) {
  llvm::Type* element = element_type(context, type.element);
  return type.components == 1 ? element : llvm::FixedVectorType::get(element, type.components);
}
bool is_signed(const Element& element) {
  return element.kind == ElementKind::signed_integer && element.bits > 1;
}

/// One step of the last bit: `up` (of the value, not of the bits) where `step_up`, down where `step_down`.
Value* emit_step(llvm::IRBuilderBase& b, Value* value, Value* step_up, Value* step_down) {
  llvm::Type* type = value->getType();
  llvm::Type* integer = with_element(type, b.getIntNTy(type->getScalarSizeInBits()));
  Value* bits = b.CreateBitCast(value, integer);
  Value* one = llvm::ConstantInt::get(integer, 1);
  Value* negative = b.CreateICmpSLT(bits, llvm::ConstantInt::get(integer, 0));
  Value* larger = b.CreateSelect(negative, b.CreateSub(bits, one), b.CreateAdd(bits, one));
  Value* smaller = b.CreateSelect(negative, b.CreateAdd(bits, one), b.CreateSub(bits, one));
  Value* moved = b.CreateSelect(step_up, larger, b.CreateSelect(step_down, smaller, bits));
  return b.CreateBitCast(moved, type);
}

/// `rounded` was rounded to nearest; `too_high` and `too_low` say how it compares with the exact value.
Value* emit_directed(llvm::IRBuilderBase& b, Value* rounded, Value* too_high, Value* too_low, Value* exact_is_negative,
                     Rounding rounding) {
  Value* never = llvm::ConstantInt::getFalse(too_high->getType());
  switch (rounding) {
    case Rounding::down:
      return emit_step(b, rounded, never, too_high);
    case Rounding::up:
      return emit_step(b, rounded, too_low, never);
    case Rounding::toward_zero: {
      Value* up = b.CreateSelect(exact_is_negative, too_low, never);
      Value* down = b.CreateSelect(exact_is_negative, never, too_high);
      return emit_step(b, rounded, up, down);
    }
    default:
      return rounded;
  }
}

struct NearestFloat {
  Value *value, *too_high, *too_low, *is_negative;
};
/// An integer as float, to nearest, and how that compares with the integer.
NearestFloat emit_nearest_float(llvm::IRBuilderBase& b, Value* value, bool from_signed) {
  llvm::Type* wide = with_element(value->getType(), b.getInt64Ty());
  llvm::Type* type = with_element(value->getType(), b.getFloatTy());
  Value* exact = from_signed ? b.CreateSExt(value, wide) : b.CreateZExt(value, wide);
  Value* rounded = from_signed ? b.CreateSIToFP(value, type) : b.CreateUIToFP(value, type);
  const auto to_integer = from_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  Value* back = b.CreateIntrinsic(to_integer, {wide, type}, {rounded});
  // Rounded up to a power of two past the largest integer: certainly too high.
  Value* past = b.CreateFCmpOGE(rounded, llvm::ConstantFP::get(type, from_signed ? 0x1p63 : 0x1p64));
  Value* above = from_signed ? b.CreateICmpSGT(back, exact) : b.CreateICmpUGT(back, exact);
  Value* below = from_signed ? b.CreateICmpSLT(back, exact) : b.CreateICmpULT(back, exact);
  Value* negative = from_signed ? b.CreateICmpSLT(exact, llvm::ConstantInt::get(wide, 0))
                                : llvm::ConstantInt::getFalse(above->getType());
  return {rounded, b.CreateOr(past, above), b.CreateAnd(b.CreateNot(past), below), negative};
}

Value* emit_integer_to_float(llvm::IRBuilderBase& b, Value* value, bool from_signed, llvm::Type* to,
                             Rounding rounding) {
  llvm::Type* single = with_element(to, b.getFloatTy());
  const bool small = is_small_float(to);
  if (rounding == Rounding::unspecified || rounding == Rounding::nearest) {
    // Half needs no care: integers that float rounds are far above its largest value.
    if (to->getScalarType()->isBFloatTy())
      return emit_from_float(b, emit_integer_to_odd_float(b, value, from_signed), to);
    Value* nearest = from_signed ? b.CreateSIToFP(value, single) : b.CreateUIToFP(value, single);
    return small ? emit_from_float(b, nearest, to) : nearest;
  }
  const NearestFloat nearest = emit_nearest_float(b, value, from_signed);
  Value* directed = emit_directed(b, nearest.value, nearest.too_high, nearest.too_low, nearest.is_negative, rounding);
  return small ? emit_float_to_small(b, directed, to, rounding) : directed;
}

Value* emit_float_to_integer(llvm::IRBuilderBase& b, Value* value, bool to_signed, llvm::Type* to, Rounding rounding) {
  if (is_small_float(value->getType())) value = emit_to_float(b, value);
  if (to->getScalarType()->isIntegerTy(1)) return b.CreateFCmpUNE(value, llvm::ConstantFP::get(value->getType(), 0.0));
  switch (rounding) {
    case Rounding::nearest:
      value = b.CreateUnaryIntrinsic(llvm::Intrinsic::rint, value);
      break;
    case Rounding::down:
      value = b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, value);
      break;
    case Rounding::up:
      value = b.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, value);
      break;
    default:
      break;
  }
  return b.CreateIntrinsic(to_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                           {to, value->getType()}, {value});
}

Value* emit_saturated(llvm::IRBuilderBase& b, Value* value, bool from_signed, llvm::Type* to, bool to_signed) {
  llvm::Type* from = value->getType();
  const unsigned from_bits = from->getScalarSizeInBits(), to_bits = to->getScalarSizeInBits();
  // Limits of the target that lie inside the source's own range.
  const unsigned target_top = to_bits - (to_signed ? 1 : 0), source_top = from_bits - (from_signed ? 1 : 0);
  if (from_signed) {
    if (!to_signed) {
      value = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, llvm::ConstantInt::get(from, 0));
    } else if (to_bits < from_bits) {
      const llvm::APInt low = llvm::APInt::getSignedMinValue(to_bits).sext(from_bits);
      value = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, llvm::ConstantInt::get(from, low));
    }
  }
  if (target_top < source_top) {
    const llvm::APInt high = llvm::APInt::getLowBitsSet(from_bits, target_top);
    value = b.CreateBinaryIntrinsic(from_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, value,
                                    llvm::ConstantInt::get(from, high));
  }
  return value;
}

Value* emit_integer_to_integer(llvm::IRBuilderBase& b, Value* value, const Conversion& conversion, llvm::Type* to) {
  const bool from_signed = is_signed(conversion.from.element), to_signed = is_signed(conversion.to.element);
  if (to->getScalarType()->isIntegerTy(1)) return b.CreateIsNotNull(value);
  if (conversion.saturate) value = emit_saturated(b, value, from_signed, to, to_signed);
  return from_signed ? b.CreateSExtOrTrunc(value, to) : b.CreateZExtOrTrunc(value, to);
}

}  // namespace

Result<Value*> lowering::convert(Call& call) {
  const auto conversion = parse_conversion(call.name);
  if (!conversion)
    return fail(Errc::compile_failed, "{}: not a conversion that AIR has; it reads convert.<kind>.<type>.<kind>.<type>",
                call.instruction.getCalledFunction()->getName().str());
  llvm::LLVMContext& context = call.builder.getContext();
  llvm::Type* to = air_type(context, conversion->to);
  if (call.operands.size() != 1 || call[0]->getType() != air_type(context, conversion->from) || call.type != to)
    return bad_call(call, "one operand of the type in its name");
  auto& b = call.builder;
  b.clearFastMathFlags();  // fast math never changes conversions
  const bool from_float = conversion->from.element.is_float(), to_float = conversion->to.element.is_float();
  if (!from_float && !to_float) return emit_integer_to_integer(b, call[0], *conversion, to);
  if (!from_float)
    return emit_integer_to_float(b, call[0], is_signed(conversion->from.element), to, conversion->rounding);
  if (!to_float) return emit_float_to_integer(b, call[0], is_signed(conversion->to.element), to, conversion->rounding);
  Value* wide = is_small_float(call[0]->getType()) ? emit_to_float(b, call[0]) : call[0];
  return is_small_float(to) ? emit_float_to_small(b, wide, to, conversion->rounding) : wide;
}

bool is_conversion(const AirName& name) {
  return parse_conversion(name).has_value();
}

// Half is left to fptrunc and fpext: F16C and every AArch64 have them. bfloat's are a library call on x86 without
// AVX512-BF16, so they are made of integer operations, with NaN kept (and quiet).
Value* emit_to_float(llvm::IRBuilderBase& b, Value* value) {
  llvm::Type* type = value->getType();
  llvm::Type* single = with_element(type, b.getFloatTy());
  if (!type->getScalarType()->isBFloatTy()) return b.CreateFPExt(value, single);
  llvm::Type* integer = with_element(type, b.getInt32Ty());
  Value* bits = b.CreateZExt(b.CreateBitCast(value, with_element(type, b.getInt16Ty())), integer);
  return b.CreateBitCast(b.CreateShl(bits, llvm::ConstantInt::get(integer, 16)), single);
}
Value* emit_from_float(llvm::IRBuilderBase& b, Value* value, llvm::Type* small) {
  small = with_element(value->getType(), small->getScalarType());
  if (!small->getScalarType()->isBFloatTy()) return b.CreateFPTrunc(value, small);
  llvm::Type* integer = with_element(value->getType(), b.getInt32Ty());
  const auto number = [&](uint32_t n) { return llvm::ConstantInt::get(integer, n); };
  Value* bits = b.CreateBitCast(value, integer);
  Value* odd = b.CreateAnd(b.CreateLShr(bits, number(16)), number(1));
  Value* rounded = b.CreateAdd(bits, b.CreateAdd(odd, number(0x7fff)));
  Value* quiet = b.CreateOr(bits, number(0x400000));
  Value* result = b.CreateLShr(b.CreateSelect(b.CreateFCmpUNO(value, value), quiet, rounded), number(16));
  return b.CreateBitCast(b.CreateTrunc(result, with_element(small, b.getInt16Ty())), small);
}

Value* emit_float_to_small(llvm::IRBuilderBase& b, Value* value, llvm::Type* small, Rounding rounding) {
  Value* nearest = emit_from_float(b, value, small);
  if (rounding == Rounding::unspecified || rounding == Rounding::nearest) return nearest;
  Value* back = emit_to_float(b, nearest);
  Value* negative = b.CreateFCmpOLT(value, llvm::ConstantFP::get(value->getType(), 0.0));
  return emit_directed(b, nearest, b.CreateFCmpOGT(back, value), b.CreateFCmpOLT(back, value), negative, rounding);
}

Value* emit_integer_to_odd_float(llvm::IRBuilderBase& b, Value* value, bool from_signed) {
  const NearestFloat nearest = emit_nearest_float(b, value, from_signed);
  Value* toward_zero =
      emit_directed(b, nearest.value, nearest.too_high, nearest.too_low, nearest.is_negative, Rounding::toward_zero);
  llvm::Type* integer = with_element(value->getType(), b.getInt32Ty());
  Value* inexact = b.CreateZExt(b.CreateOr(nearest.too_high, nearest.too_low), integer);
  return b.CreateBitCast(b.CreateOr(b.CreateBitCast(toward_zero, integer), inexact), toward_zero->getType());
}

}  // namespace smelt::aot::cpu
