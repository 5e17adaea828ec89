// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer operations of docs/formats/air.md 3.4; edge cases: docs/formats/metal-language.md 3.2.
#include "lower/lowerings.hpp"

#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::cpu {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

unsigned width(const Call& call) {
  return call.type->getScalarSizeInBits();
}
Value* integer_constant(const Call& call, const llvm::APInt& value) {
  return llvm::ConstantInt::get(call.type, value);
}
Value* integer_constant(const Call& call, uint64_t value) {
  return llvm::ConstantInt::get(call.type, value);
}
Value* emit_minimum(Call& call, Value* x, Value* y) {
  return call.builder.CreateBinaryIntrinsic(call.is_signed() ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x, y);
}
Value* emit_maximum(Call& call, Value* x, Value* y) {
  return call.builder.CreateBinaryIntrinsic(call.is_signed() ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, x, y);
}
Value* emit_shift_right(Call& call, Value* x, Value* amount) {
  return call.is_signed() ? call.builder.CreateAShr(x, amount) : call.builder.CreateLShr(x, amount);
}
Value* emit_extend(Call& call, Value* x, llvm::Type* type) {
  return call.is_signed() ? call.builder.CreateSExt(x, type) : call.builder.CreateZExt(x, type);
}

/// (T x, i1 zero_is_undefined): the flag is not used, 0 gives the width.
template <ID id>
Result<Value*> count_zeros(Call& call) {
  if (call.operands.empty() || call.operands.size() > 2 || !call.type->isIntOrIntVectorTy() ||
      call[0]->getType() != call.type)
    return bad_call(call, "(T, i1) -> T, T an integer");
  return call.builder.CreateBinaryIntrinsic(id, call[0], call.builder.getFalse());
}
template <ID id>
Result<Value*> unary(Call& call) {
  return call.builder.CreateUnaryIntrinsic(id, call[0]);
}

Value* emit_multiply_high(Call& call, Value* x, Value* y) {
  auto& b = call.builder;
  const unsigned bits = width(call);
  if (bits <= 32 || call.wide_products) {
    llvm::Type* wide = with_element(call.type, b.getIntNTy(bits * 2));
    Value* product = b.CreateMul(emit_extend(call, x, wide), emit_extend(call, y, wide));
    return b.CreateTrunc(b.CreateLShr(product, bits), call.type);
  }
  // Four 32-bit products: vectors have no 64 x 64 -> 128 multiplication.
  Value* mask = integer_constant(call, 0xffffffff);
  Value* shift = integer_constant(call, 32);
  Value *x0 = b.CreateAnd(x, mask), *x1 = b.CreateLShr(x, shift);
  Value *y0 = b.CreateAnd(y, mask), *y1 = b.CreateLShr(y, shift);
  Value* low = b.CreateLShr(b.CreateMul(x0, y0), shift);
  Value* middle = b.CreateAdd(b.CreateMul(x1, y0), low);
  Value* other = b.CreateAdd(b.CreateMul(x0, y1), b.CreateAnd(middle, mask));
  Value* high = b.CreateAdd(b.CreateMul(x1, y1), b.CreateAdd(b.CreateLShr(middle, shift), b.CreateLShr(other, shift)));
  if (!call.is_signed()) return high;
  Value* top = integer_constant(call, 63);
  high = b.CreateSub(high, b.CreateAnd(b.CreateAShr(x, top), y));
  return b.CreateSub(high, b.CreateAnd(b.CreateAShr(y, top), x));
}

// Operands outside 24 bits are implementation-defined: the low 24 bits count.
Value* low_24(Call& call, Value* x) {
  Value* eight = integer_constant(call, 8);
  return emit_shift_right(call, call.builder.CreateShl(x, eight), eight);
}

/// An i32 (or vector) field position as a shift amount of T: modulo the width, so that it is never poison.
Value* shift_amount(Call& call, Value* amount) {
  auto& b = call.builder;
  llvm::Type* element = call.type->getScalarType();
  amount = b.CreateZExtOrTrunc(amount, with_element(amount->getType(), element));
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(call.type); vector && !amount->getType()->isVectorTy())
    amount = b.CreateVectorSplat(vector->getNumElements(), amount);
  return b.CreateAnd(amount, integer_constant(call, width(call) - 1));
}
bool is_field_operand(const Call& call, const Value* operand) {
  llvm::Type* type = operand->getType();
  return type->isIntegerTy(32) ||
         (type->isIntOrIntVectorTy() && type == with_element(call.type, type->getScalarType()));
}
Value* is_empty_field(Call& call, Value* count) {
  auto& b = call.builder;
  Value* empty = b.CreateICmpEQ(count, llvm::ConstantInt::get(count->getType(), 0));
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(call.type);
  return vector && !empty->getType()->isVectorTy() ? b.CreateVectorSplat(vector->getNumElements(), empty) : empty;
}

}  // namespace

Result<Value*> lowering::integer_minimum(Call& call) {
  return emit_minimum(call, call[0], call[1]);
}
Result<Value*> lowering::integer_maximum(Call& call) {
  return emit_maximum(call, call[0], call[1]);
}
Result<Value*> lowering::integer_minimum_of_3(Call& call) {
  return emit_minimum(call, emit_minimum(call, call[0], call[1]), call[2]);
}
Result<Value*> lowering::integer_maximum_of_3(Call& call) {
  return emit_maximum(call, emit_maximum(call, call[0], call[1]), call[2]);
}
Result<Value*> lowering::integer_median_of_3(Call& call) {
  Value* low = emit_minimum(call, call[0], call[1]);
  Value* high = emit_maximum(call, call[0], call[1]);
  return emit_maximum(call, low, emit_minimum(call, high, call[2]));
}

Result<Value*> lowering::integer_clamp(Call& call) {
  return emit_minimum(call, emit_maximum(call, call[0], call[1]), call[2]);
}

Result<Value*> lowering::absolute(Call& call) {
  if (!call.is_signed()) return call[0];
  return call.builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, call[0], call.builder.getFalse());
}
Result<Value*> lowering::absolute_difference(Call& call) {
  auto& b = call.builder;
  Value* less = call.is_signed() ? b.CreateICmpSLT(call[0], call[1]) : b.CreateICmpULT(call[0], call[1]);
  return b.CreateSelect(less, b.CreateSub(call[1], call[0]), b.CreateSub(call[0], call[1]));
}
Result<Value*> lowering::add_saturated(Call& call) {
  return call.builder.CreateBinaryIntrinsic(call.is_signed() ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat,
                                            call[0], call[1]);
}
Result<Value*> lowering::subtract_saturated(Call& call) {
  return call.builder.CreateBinaryIntrinsic(call.is_signed() ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat,
                                            call[0], call[1]);
}
Result<Value*> lowering::multiply_high(Call& call) {
  return emit_multiply_high(call, call[0], call[1]);
}
Result<Value*> lowering::multiply_add_high(Call& call) {
  return call.builder.CreateAdd(emit_multiply_high(call, call[0], call[1]), call[2]);
}
Result<Value*> lowering::multiply_add_saturated(Call& call) {
  auto& b = call.builder;
  const unsigned bits = width(call);
  llvm::Type* wide = with_element(call.type, b.getIntNTy(bits * 2));  // holds x * y + z for every x, y, z
  Value* product = b.CreateMul(emit_extend(call, call[0], wide), emit_extend(call, call[1], wide));
  Value* sum = b.CreateAdd(product, emit_extend(call, call[2], wide));
  if (call.is_signed()) {
    sum = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, sum,
                                  llvm::ConstantInt::get(wide, llvm::APInt::getSignedMaxValue(bits).sext(bits * 2)));
    sum = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, sum,
                                  llvm::ConstantInt::get(wide, llvm::APInt::getSignedMinValue(bits).sext(bits * 2)));
  } else {
    sum = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, sum,
                                  llvm::ConstantInt::get(wide, llvm::APInt::getMaxValue(bits).zext(bits * 2)));
  }
  return b.CreateTrunc(sum, call.type);
}
Result<Value*> lowering::multiply_24(Call& call) {
  if (width(call) != 32) return bad_call(call, "32-bit integers");
  return call.builder.CreateMul(low_24(call, call[0]), low_24(call, call[1]));
}
Result<Value*> lowering::multiply_add_24(Call& call) {
  SMELT_TRY(Value * product, multiply_24(call));
  return call.builder.CreateAdd(product, call[2]);
}

Result<Value*> lowering::rotate(Call& call) {
  return call.builder.CreateIntrinsic(llvm::Intrinsic::fshl, {call.type}, {call[0], call[0], call[1]});
}
Result<Value*> lowering::half_add(Call& call) {
  auto& b = call.builder;
  Value* half = emit_shift_right(call, b.CreateXor(call[0], call[1]), integer_constant(call, 1));
  return b.CreateAdd(b.CreateAnd(call[0], call[1]), half);
}
Result<Value*> lowering::rounded_half_add(Call& call) {
  auto& b = call.builder;
  Value* half = emit_shift_right(call, b.CreateXor(call[0], call[1]), integer_constant(call, 1));
  return b.CreateSub(b.CreateOr(call[0], call[1]), half);
}
// (T x, i32 offset, i32 count); offset + count <= width, or the result is undefined (never poison).
Result<Value*> lowering::extract_bits(Call& call) {
  auto& b = call.builder;
  if (call.operands.size() != 3 || !call.type->isIntOrIntVectorTy() || call[0]->getType() != call.type ||
      !is_field_operand(call, call[1]) || !is_field_operand(call, call[2]))
    return bad_call(call, "(T, i32, i32) -> T, T an integer");
  Value *offset = shift_amount(call, call[1]), *count = shift_amount(call, call[2]);
  // The field to the top, then down again: a count of the whole width shifts by 0.
  Value* mask = integer_constant(call, width(call) - 1);
  Value* down = b.CreateAnd(b.CreateNeg(count), mask);
  Value* up = b.CreateAnd(b.CreateSub(down, offset), mask);
  Value* field = emit_shift_right(call, b.CreateShl(call[0], up), down);
  return b.CreateSelect(is_empty_field(call, call[2]), integer_constant(call, 0), field);
}
// (T base, T inserted, i32 offset, i32 count)
Result<Value*> lowering::insert_bits(Call& call) {
  auto& b = call.builder;
  if (call.operands.size() != 4 || !call.type->isIntOrIntVectorTy() || call[0]->getType() != call.type ||
      call[1]->getType() != call.type || !is_field_operand(call, call[2]) || !is_field_operand(call, call[3]))
    return bad_call(call, "(T, T, i32, i32) -> T, T an integer");
  Value *offset = shift_amount(call, call[2]), *count = shift_amount(call, call[3]);
  Value* down = b.CreateAnd(b.CreateNeg(count), integer_constant(call, width(call) - 1));
  Value* ones = integer_constant(call, llvm::APInt::getAllOnes(width(call)));
  Value* mask = b.CreateShl(b.CreateLShr(ones, down), offset);
  Value* field = b.CreateAnd(b.CreateShl(call[1], offset), mask);
  Value* merged = b.CreateOr(b.CreateAnd(call[0], b.CreateNot(mask)), field);
  return b.CreateSelect(is_empty_field(call, call[3]), call[0], merged);
}

Result<Value*> lowering::leading_zeros(Call& call) {
  return count_zeros<llvm::Intrinsic::ctlz>(call);
}
Result<Value*> lowering::trailing_zeros(Call& call) {
  return count_zeros<llvm::Intrinsic::cttz>(call);
}
Result<Value*> lowering::population_count(Call& call) {
  return unary<llvm::Intrinsic::ctpop>(call);
}
Result<Value*> lowering::reverse_bits(Call& call) {
  return unary<llvm::Intrinsic::bitreverse>(call);
}

}  // namespace smelt::aot::cpu
