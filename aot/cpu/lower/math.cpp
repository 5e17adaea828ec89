// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point operations of docs/formats/air.md 3.2. Meaning of special values:
// docs/formats/metal-language.md 3.1, 3.4, 4.3.
#include "lower/lowerings.hpp"
#include "runtime/runtime.hpp"

#include "llvm/IR/Intrinsics.h"

#include <cmath>

namespace smelt::aot::cpu {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

Value* float_constant(const Call& call, double value) {
  return llvm::ConstantFP::get(call.type, value);
}

template <ID id>
Result<Value*> intrinsic(Call& call) {
  return call.builder.CreateIntrinsic(id, {call.type}, call.operands);
}
Value* clamp_between(Call& call, Value* x, Value* low, Value* high) {
  const bool careful = !call.name.fast;
  return emit_float_minimum(call.builder, emit_float_maximum(call.builder, x, low, careful), high, careful);
}

// The product of two halves (or bfloats) is exact in float. Rounding the sum to odd leaves enough bits for the one
// rounding that counts.
Value* small_fma(llvm::IRBuilder<>& b, Value* x, Value* y, Value* z, llvm::Type* small) {
  Value* product = b.CreateFMul(emit_to_float(b, x), emit_to_float(b, y));
  Value* addend = emit_to_float(b, z);
  Value* sum = b.CreateFAdd(product, addend);
  // The rounding error of the sum, exactly (Knuth); NaN when the sum is not finite, and then nothing is changed.
  Value* part = b.CreateFSub(sum, product);
  Value* error = b.CreateFAdd(b.CreateFSub(product, b.CreateFSub(sum, part)), b.CreateFSub(addend, part));
  llvm::Type* integer = with_element(sum->getType(), b.getInt32Ty());
  Value* bits = b.CreateBitCast(sum, integer);
  Value* zero = llvm::ConstantFP::get(sum->getType(), 0.0);
  Value* one = llvm::ConstantInt::get(integer, 1);
  Value* inexact = b.CreateFCmpONE(error, zero);
  Value* even = b.CreateICmpEQ(b.CreateAnd(bits, one), llvm::ConstantInt::get(integer, 0));
  Value* outward = b.CreateICmpEQ(b.CreateFCmpOGT(error, zero), b.CreateFCmpOGT(sum, zero));
  Value* moved = b.CreateSelect(outward, b.CreateAdd(bits, one), b.CreateSub(bits, one));
  Value* odd = b.CreateSelect(b.CreateAnd(inexact, even), moved, bits);
  return emit_from_float(b, b.CreateBitCast(odd, sum->getType()), small);
}

}  // namespace

/// The runtime function of the operation's own name. `fast_` has a function of its own for those that gain from one.
Result<Value*> lowering::runtime(Call& call) {
  return emit_runtime_call(call.builder, call.name.operation, call.operands);
}
Result<Value*> lowering::runtime_or_fast(Call& call) {
  const std::string name = (call.name.fast ? "fast_" : "") + call.name.operation.str();
  return emit_runtime_call(call.builder, name, call.operands);
}

Result<Value*> lowering::square_root(Call& call) {
  call.builder.clearFastMathFlags();  // correctly rounded is as fast as an estimate
  return call.builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, call[0]);
}
Result<Value*> lowering::reciprocal_root(Call& call) {
  if (!call.name.fast) return runtime(call);
  call.builder.clearFastMathFlags();
  return call.builder.CreateFDiv(float_constant(call, 1.0),
                                 call.builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, call[0]));
}

Result<Value*> lowering::float_minimum(Call& call) {
  return emit_float_minimum(call.builder, call[0], call[1], !call.name.fast);
}
Result<Value*> lowering::float_maximum(Call& call) {
  return emit_float_maximum(call.builder, call[0], call[1], !call.name.fast);
}
Result<Value*> lowering::float_minimum_of_3(Call& call) {
  const bool careful = !call.name.fast;
  Value* first = emit_float_minimum(call.builder, call[0], call[1], careful);
  return emit_float_minimum(call.builder, first, call[2], careful);
}
Result<Value*> lowering::float_maximum_of_3(Call& call) {
  const bool careful = !call.name.fast;
  Value* first = emit_float_maximum(call.builder, call[0], call[1], careful);
  return emit_float_maximum(call.builder, first, call[2], careful);
}
Result<Value*> lowering::float_median_of_3(Call& call) {
  const bool careful = !call.name.fast;
  auto& b = call.builder;
  Value* low = emit_float_minimum(b, call[0], call[1], careful);
  Value* high = emit_float_maximum(b, call[0], call[1], careful);
  return emit_float_maximum(b, low, emit_float_minimum(b, high, call[2], careful), careful);
}
Result<Value*> lowering::float_clamp(Call& call) {
  return clamp_between(call, call[0], call[1], call[2]);
}
Result<Value*> lowering::saturate(Call& call) {
  return clamp_between(call, call[0], float_constant(call, 0.0), float_constant(call, 1.0));
}

Result<Value*> lowering::mix(Call& call) {
  auto& b = call.builder;
  return b.CreateFAdd(call[0], b.CreateFMul(b.CreateFSub(call[1], call[0]), call[2]));
}

// 1 or -1, the sign of a zero kept, 0 for NaN.
Result<Value*> lowering::sign(Call& call) {
  auto& b = call.builder;
  b.clearFastMathFlags();
  Value* zero = float_constant(call, 0.0);
  Value* signed_zero = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, call[0]);
  Value* result = b.CreateSelect(b.CreateFCmpUNO(call[0], call[0]), zero, signed_zero);
  result = b.CreateSelect(b.CreateFCmpOGT(call[0], zero), float_constant(call, 1.0), result);
  return b.CreateSelect(b.CreateFCmpOLT(call[0], zero), float_constant(call, -1.0), result);
}

// x - floor(x), below 1 also where that rounds up to it; NaN for infinities.
Result<Value*> lowering::fract(Call& call) {
  auto& b = call.builder;
  b.clearFastMathFlags();
  llvm::Type* element = call.instruction.getType()->getScalarType();
  const double below_one = element->isHalfTy() ? 0x1.ffcp-1 : element->isBFloatTy() ? 0x1.fep-1 : 0x1.fffffep-1;
  Value* rest = b.CreateFSub(call[0], b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, call[0]));
  Value* limit = float_constant(call, below_one);
  return b.CreateSelect(b.CreateFCmpOGT(rest, limit), limit, rest);
}
Result<Value*> lowering::fused_multiply_add(Call& call) {
  if (!is_small_float(call.type)) return call.builder.CreateIntrinsic(llvm::Intrinsic::fma, {call.type}, call.operands);
  call.builder.clearFastMathFlags();
  return small_fma(call.builder, call[0], call[1], call[2], call.type);
}

// Next value towards y, on the bits, for every width.
Result<Value*> lowering::next_after(Call& call) {
  auto& b = call.builder;
  b.clearFastMathFlags();
  llvm::Type* type = call.type;
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Type* integer = with_element(type, b.getIntNTy(bits));
  Value *x = call[0], *y = call[1];
  Value* wide_x = is_small_float(type) ? emit_to_float(b, x) : x;
  Value* wide_y = is_small_float(type) ? emit_to_float(b, y) : y;
  Value* zero = llvm::ConstantFP::get(wide_x->getType(), 0.0);
  Value* one = llvm::ConstantInt::get(integer, 1);
  Value* u = b.CreateBitCast(x, integer);
  Value* from_zero = b.CreateICmpEQ(b.CreateFCmpOGT(wide_y, wide_x), b.CreateFCmpOGT(wide_x, zero));
  Value* step = b.CreateSelect(from_zero, b.CreateAdd(u, one), b.CreateSub(u, one));
  Value* sign =
      b.CreateAnd(b.CreateBitCast(y, integer), llvm::ConstantInt::get(integer, llvm::APInt::getSignMask(bits)));
  step = b.CreateSelect(b.CreateFCmpOEQ(wide_x, zero), b.CreateOr(sign, one), step);
  Value* result = b.CreateSelect(b.CreateFCmpOEQ(wide_x, wide_y), y, b.CreateBitCast(step, type));
  return b.CreateSelect(b.CreateFCmpUNO(wide_x, wide_y), llvm::ConstantFP::getNaN(type), result);
}

// (T x, int k); T and k may be vectors.
Result<Value*> lowering::load_exponent(Call& call) {
  auto& b = call.builder;
  if (call.operands.size() != 2 || !call.type->isFPOrFPVectorTy() || call[0]->getType() != call.type ||
      call[1]->getType() != with_element(call.type, b.getInt32Ty()))
    return bad_call(call, "(T, i32) -> T");
  return emit_runtime_call(b, "ldexp", {call[0], call[1]});
}

// (T x, T* cosine) -> sine
Result<Value*> lowering::sine_and_cosine(Call& call) {
  auto& b = call.builder;
  if (call.operands.size() != 2 || !call.type->isFPOrFPVectorTy() || call[0]->getType() != call.type ||
      !call[1]->getType()->isPointerTy())
    return bad_call(call, "(T, T*) -> T");
  const std::string fast = call.name.fast ? "fast_" : "";
  SMELT_TRY(Value * sine, emit_runtime_call(b, fast + "sin", {call[0]}));
  SMELT_TRY(Value * cosine, emit_runtime_call(b, fast + "cos", {call[0]}));
  b.CreateAlignedStore(cosine, call[1], llvm::Align(call.type->getScalarSizeInBits() / 8));
  return sine;
}

// Products summed from the first component on, fused; half and bfloat are rounded once.
Result<Value*> lowering::dot(Call& call) {
  auto& b = call.builder;
  auto* vector = call.operands.size() == 2 ? llvm::dyn_cast<llvm::FixedVectorType>(call[0]->getType()) : nullptr;
  if (!vector || call[1]->getType() != vector || vector->getElementType() != call.type ||
      !call.type->isFloatingPointTy())
    return bad_call(call, "(vector of T, the same) -> T");
  const bool small = is_small_float(call.type);
  Value* x = small ? emit_to_float(b, call[0]) : call[0];
  Value* y = small ? emit_to_float(b, call[1]) : call[1];
  Value* sum = b.CreateFMul(b.CreateExtractElement(x, uint64_t{0}), b.CreateExtractElement(y, uint64_t{0}));
  for (unsigned i = 1; i < vector->getNumElements(); ++i)
    sum = b.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()},
                            {b.CreateExtractElement(x, i), b.CreateExtractElement(y, i), sum});
  return small ? emit_from_float(b, sum, call.type) : sum;
}

Result<Value*> lowering::divide(Call& call) {
  return call.builder.CreateFDiv(call[0], call[1]);
}

Result<Value*> lowering::round_up(Call& call) {
  return intrinsic<llvm::Intrinsic::ceil>(call);
}
Result<Value*> lowering::round_down(Call& call) {
  return intrinsic<llvm::Intrinsic::floor>(call);
}
Result<Value*> lowering::round_to_zero(Call& call) {
  return intrinsic<llvm::Intrinsic::trunc>(call);
}
Result<Value*> lowering::round_to_even(Call& call) {
  return intrinsic<llvm::Intrinsic::rint>(call);
}
Result<Value*> lowering::round_half_away(Call& call) {
  return intrinsic<llvm::Intrinsic::round>(call);
}
Result<Value*> lowering::magnitude(Call& call) {
  return intrinsic<llvm::Intrinsic::fabs>(call);
}
Result<Value*> lowering::copy_sign(Call& call) {
  return intrinsic<llvm::Intrinsic::copysign>(call);
}

// One NaN: the other operand. Equal zeros: the first. `fast` forms leave NaN undefined.
Value* emit_float_minimum(llvm::IRBuilderBase& builder, Value* x, Value* y, bool ignore_nan) {
  Value* result = builder.CreateSelect(builder.CreateFCmpOLT(y, x), y, x);
  return ignore_nan ? builder.CreateSelect(builder.CreateFCmpUNO(x, x), y, result) : result;
}
Value* emit_float_maximum(llvm::IRBuilderBase& builder, Value* x, Value* y, bool ignore_nan) {
  Value* result = builder.CreateSelect(builder.CreateFCmpOLT(x, y), y, x);
  return ignore_nan ? builder.CreateSelect(builder.CreateFCmpUNO(x, x), y, result) : result;
}

Result<Value*> emit_runtime_call(llvm::IRBuilderBase& b, std::string_view function, llvm::ArrayRef<Value*> operands) {
  llvm::Type* type = operands[0]->getType();
  const bool small = is_small_float(type);
  if (!small && !type->getScalarType()->isFloatTy())
    return fail(Errc::unsupported, "{} of double: only half, bfloat and float run on the CPU", function);
  llvm::Function* callee = declare_runtime(*b.GetInsertBlock()->getModule(), function);
  if (!callee) return fail(Errc::compile_failed, "the CPU runtime has no function '{}'", function);
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  llvm::SmallVector<Value*, 3> wide;
  for (Value* operand : operands)
    wide.push_back(is_small_float(operand->getType()) ? emit_to_float(b, operand) : operand);
  Value* result = nullptr;
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    result = llvm::PoisonValue::get(wide[0]->getType());
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      llvm::SmallVector<Value*, 3> elements;
      for (Value* operand : wide)
        elements.push_back(operand->getType()->isVectorTy() ? b.CreateExtractElement(operand, i) : operand);
      result = b.CreateInsertElement(result, b.CreateCall(callee, elements), i);
    }
  } else {
    result = b.CreateCall(callee, wide);
  }
  return small ? emit_from_float(b, result, type) : result;
}

}  // namespace smelt::aot::cpu
