// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packing (docs/formats/metal-language.md 3.12), votes of a vector's own components, and tests of float classes.
#include "lower/lowerings.hpp"
#include "runtime/runtime.hpp"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::cpu {
namespace {

using llvm::Value;

// ---- pack and unpack ------------------------------------------------------------------------------------------------

struct PackedLayout {
  llvm::StringRef name;
  std::array<uint8_t, 4> bits;  ///< of x, y, z, w, from the low end; 0: no such component
  bool is_signed = false;
  bool srgb = false;  ///< x, y and z on the sRGB curve
};
constexpr PackedLayout kLayouts[] = {
    {"unorm4x8", {8, 8, 8, 8}},
    {"snorm4x8", {8, 8, 8, 8}, true},
    {"unorm2x16", {16, 16, 0, 0}},
    {"snorm2x16", {16, 16, 0, 0}, true},
    {"unorm.rgb10a2", {10, 10, 10, 2}},
    {"snorm.rgb10a2", {10, 10, 10, 2}, true},
    {"unorm4x8.srgb", {8, 8, 8, 8}, false, true},
};
// x is the red component, in the high bits.
constexpr PackedLayout k565 = {"unorm.rgb565", {5, 6, 5, 0}};

/// By the parts of the name before its type: air.pack.unorm.rgb10a2.v4f32, air.pack.unorm4x8.v4f32.
const PackedLayout* find_layout(const AirName& name) {
  if (name.parts.size() < 2) return nullptr;
  const std::string wanted = llvm::join(name.parts.begin(), name.parts.end() - 1, ".");
  for (const PackedLayout& layout : kLayouts)
    if (layout.name == wanted) return &layout;
  return wanted == k565.name ? &k565 : nullptr;
}
unsigned component_count(const PackedLayout& layout) {
  return layout.bits[2] == 0 ? 2 : layout.bits[3] == 0 ? 3 : 4;
}
unsigned total_bits(const PackedLayout& layout) {
  return layout.bits[0] + layout.bits[1] + layout.bits[2] + layout.bits[3];
}
unsigned position_of(const PackedLayout& layout, unsigned component) {
  if (&layout == &k565) return component == 0 ? 11 : component == 1 ? 5 : 0;
  unsigned at = 0;
  for (unsigned i = 0; i < component; ++i) at += layout.bits[i];
  return at;
}
double largest(const PackedLayout& layout, unsigned component) {
  return static_cast<double>((uint64_t{1} << (layout.bits[component] - (layout.is_signed ? 1 : 0))) - 1);
}

Result<Value*> decode_srgb(Call& call, Value* c) {
  auto& b = call.builder;
  const auto number = [&](double n) { return llvm::ConstantFP::get(c->getType(), n); };
  Value* base = b.CreateFMul(b.CreateFAdd(c, number(0.055)), number(1 / 1.055));
  SMELT_TRY(Value * curve, emit_runtime_call(b, "powr", {base, number(2.4)}));
  return b.CreateSelect(b.CreateFCmpOLE(c, number(0.04045)), b.CreateFDiv(c, number(12.92)), curve);
}
Result<Value*> encode_srgb(Call& call, Value* c) {
  auto& b = call.builder;
  const auto number = [&](double n) { return llvm::ConstantFP::get(c->getType(), n); };
  SMELT_TRY(Value * root, emit_runtime_call(b, "powr", {c, number(1 / 2.4)}));
  Value* curve = b.CreateFSub(b.CreateFMul(number(1.055), root), number(0.055));
  return b.CreateSelect(b.CreateFCmpOLE(c, number(0.0031308)), b.CreateFMul(c, number(12.92)), curve);
}

bool is_vector_of(const llvm::Type* type, unsigned components) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getNumElements() == components && vector->getElementType()->isFloatingPointTy();
}

}  // namespace

// <n x T> (iN)
Result<Value*> lowering::unpack(Call& call) {
  const PackedLayout* layout = find_layout(call.name);
  if (!layout) return bad_call(call, "a layout such as unorm4x8");
  const unsigned components = component_count(*layout);
  if (call.operands.size() != 1 || !call[0]->getType()->isIntegerTy(total_bits(*layout)) ||
      !is_vector_of(call.type, components))
    return bad_call(call, "the packed integer -> vector");
  auto& b = call.builder;
  b.clearFastMathFlags();
  Value* result = llvm::PoisonValue::get(with_element(call.type, b.getFloatTy()));
  for (unsigned i = 0; i < components; ++i) {
    llvm::Type* type = call[0]->getType();
    const unsigned bits = layout->bits[i], width = type->getIntegerBitWidth();
    Value* top = b.CreateShl(call[0], width - bits - position_of(*layout, i));
    Value* field = layout->is_signed ? b.CreateAShr(top, width - bits) : b.CreateLShr(top, width - bits);
    Value* number = layout->is_signed ? b.CreateSIToFP(field, b.getFloatTy()) : b.CreateUIToFP(field, b.getFloatTy());
    Value* value = b.CreateFDiv(number, llvm::ConstantFP::get(b.getFloatTy(), largest(*layout, i)));
    if (layout->is_signed) value = emit_float_maximum(b, value, llvm::ConstantFP::get(b.getFloatTy(), -1.0), false);
    if (layout->srgb && i < 3) {
      SMELT_TRY(value, decode_srgb(call, value));
    }
    result = b.CreateInsertElement(result, value, i);
  }
  return is_small_float(call.type) ? emit_from_float(b, result, call.type) : result;
}

// iN (<n x T>): clamped, scaled, rounded to even; NaN packs to 0.
Result<Value*> lowering::pack(Call& call) {
  const PackedLayout* layout = find_layout(call.name);
  if (!layout) return bad_call(call, "a layout such as unorm4x8");
  const unsigned components = component_count(*layout);
  if (call.operands.size() != 1 || !call.type->isIntegerTy(total_bits(*layout)) ||
      !is_vector_of(call[0]->getType(), components))
    return bad_call(call, "vector -> the packed integer");
  auto& b = call.builder;
  b.clearFastMathFlags();
  Value* vector = is_small_float(call[0]->getType()) ? emit_to_float(b, call[0]) : call[0];
  Value* result = llvm::ConstantInt::get(b.getInt32Ty(), 0);
  for (unsigned i = 0; i < components; ++i) {
    const auto number = [&](double n) { return llvm::ConstantFP::get(b.getFloatTy(), n); };
    Value* value = b.CreateExtractElement(vector, i);
    value = b.CreateSelect(b.CreateFCmpUNO(value, value), number(0.0), value);
    value = emit_float_maximum(b, value, number(layout->is_signed ? -1.0 : 0.0), false);
    value = emit_float_minimum(b, value, number(1.0), false);
    if (layout->srgb && i < 3) {
      SMELT_TRY(value, encode_srgb(call, value));
    }
    value = b.CreateUnaryIntrinsic(llvm::Intrinsic::rint, b.CreateFMul(value, number(largest(*layout, i))));
    Value* field = b.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {b.getInt32Ty(), b.getFloatTy()}, {value});
    field = b.CreateAnd(field, (uint64_t{1} << layout->bits[i]) - 1);
    result = b.CreateOr(result, b.CreateShl(field, position_of(*layout, i)));
  }
  return b.CreateZExtOrTrunc(result, call.type);
}

// ---- votes of components, classes of floats, ballots
// ------------------------------------------------------------------

// i1 (<n x i1>)
Result<Value*> lowering::all_or_any(Call& call) {
  if (call.operands.size() != 1 || !call.type->isIntegerTy(1) || !call[0]->getType()->getScalarType()->isIntegerTy(1))
    return bad_call(call, "vector of i1 -> i1");
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(call[0]->getType());
  if (!vector) return call[0];
  auto& b = call.builder;
  const bool all = call.name.operation == "all";
  Value* result = b.CreateExtractElement(call[0], uint64_t{0});
  for (unsigned i = 1; i < vector->getNumElements(); ++i) {
    Value* element = b.CreateExtractElement(call[0], i);
    result = all ? b.CreateAnd(result, element) : b.CreateOr(result, element);
  }
  return result;
}

// i1 (T) or <n x i1> (<n x T>). llvm.is.fpclass works on the bits: fast math cannot remove it.
Result<Value*> lowering::test_class(Call& call) {
  const unsigned classes = llvm::StringSwitch<unsigned>(call.name.operation)
                               .Case("isnan", llvm::fcNan)
                               .Case("isinf", llvm::fcInf)
                               .Case("isfinite", llvm::fcFinite)
                               .Case("isnormal", llvm::fcNormal)
                               .Default(llvm::fcNone);
  auto& b = call.builder;
  if (call.operands.size() != 1 || !call[0]->getType()->isFPOrFPVectorTy() ||
      call.type != with_element(call[0]->getType(), b.getInt1Ty()))
    return bad_call(call, "T -> i1, T floating point");
  Value* value = is_small_float(call[0]->getType()) ? emit_to_float(b, call[0]) : call[0];
  return b.CreateIntrinsic(llvm::Intrinsic::is_fpclass, {value->getType()}, {value, b.getInt32(classes)});
}

// i1 (i64 ballot): of the group's own bits, whether lanes are active or not.
Result<Value*> lowering::vote(Call& call) {
  if (call.operands.size() != 1 || !call[0]->getType()->isIntegerTy(64) || !call.type->isIntegerTy(1))
    return bad_call(call, "i64 -> i1");
  auto& b = call.builder;
  const uint64_t everyone = call.name.operation.starts_with("quad") ? 0xf : 0xffffffff;
  Value* bits = b.CreateAnd(call[0], everyone);
  return call.name.operation.ends_with("all") ? b.CreateICmpEQ(bits, b.getInt64(everyone)) : b.CreateIsNotNull(bits);
}

// iN (): 32 lanes, always.
Result<Value*> lowering::simdgroup_size(Call& call) {
  if (!call.operands.empty() || !call.type->isIntegerTy()) return bad_call(call, "() -> integer");
  return llvm::ConstantInt::get(call.type, kSimdWidth);
}

// i8 (i8): a function constant read as a condition.
Result<Value*> lowering::normalize_predicate(Call& call) {
  if (call.operands.size() != 1 || !call.type->isIntegerTy() || call[0]->getType() != call.type)
    return bad_call(call, "T -> T, T an integer");
  return call.builder.CreateZExt(call.builder.CreateIsNotNull(call[0]), call.type);
}

}  // namespace smelt::aot::cpu
