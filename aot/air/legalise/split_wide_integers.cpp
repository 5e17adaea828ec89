// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on i128 (and wider, where it is easy) in 64-bit words, low word first.
#include "legalise/split_values.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

using llvm::Instruction;
using Builder = llvm::IRBuilder<>;
using Words = Splitter::Pieces;

Words add(Builder& builder, const Words& x, const Words& y) {
  Words sum;
  llvm::Value* carry = builder.getInt64(0);
  for (size_t i = 0; i < x.size(); ++i) {
    llvm::Value* const partial = builder.CreateAdd(x[i], y[i]);
    llvm::Value* const whole = builder.CreateAdd(partial, carry);
    llvm::Value* const over =
        builder.CreateOr(builder.CreateICmpULT(partial, x[i]), builder.CreateICmpULT(whole, partial));
    carry = builder.CreateZExt(over, builder.getInt64Ty());
    sum.push_back(whole);
  }
  return sum;
}

Words negated(Builder& builder, const Words& x) {
  Words inverted, one;
  for (size_t i = 0; i < x.size(); ++i) {
    inverted.push_back(builder.CreateNot(x[i]));
    one.push_back(builder.getInt64(i == 0 ? 1 : 0));
  }
  return add(builder, inverted, one);
}

/// High half of 64 x 64 bits, from 32-bit halves.
llvm::Value* multiply_high(Builder& builder, llvm::Value* x, llvm::Value* y) {
  llvm::Value* const low_half = builder.getInt64(0xFFFFFFFF);
  const auto low = [&](llvm::Value* v) { return builder.CreateAnd(v, low_half); };
  const auto high = [&](llvm::Value* v) { return builder.CreateLShr(v, 32); };
  llvm::Value* const ll = builder.CreateMul(low(x), low(y));
  llvm::Value* const lh = builder.CreateMul(low(x), high(y));
  llvm::Value* const hl = builder.CreateMul(high(x), low(y));
  llvm::Value* const hh = builder.CreateMul(high(x), high(y));
  llvm::Value* const middle = builder.CreateAdd(builder.CreateAdd(high(ll), low(lh)), low(hl));
  return builder.CreateAdd(builder.CreateAdd(hh, high(lh)), builder.CreateAdd(high(hl), high(middle)));
}

Words multiply(Builder& builder, const Words& x, const Words& y) {
  llvm::Value* high = multiply_high(builder, x[0], y[0]);
  high = builder.CreateAdd(high, builder.CreateMul(x[0], y[1]));
  high = builder.CreateAdd(high, builder.CreateMul(x[1], y[0]));
  return {builder.CreateMul(x[0], y[0]), high};
}

/// Two words by any amount below 128, without shifting a word by its whole width.
Words shift(Builder& builder, unsigned opcode, const Words& x, llvm::Value* amount) {
  const bool left = opcode == Instruction::Shl;
  llvm::Value* const far = builder.CreateICmpUGE(amount, builder.getInt64(64));
  llvm::Value* const within = builder.CreateAnd(amount, 63);
  llvm::Value* const rest = builder.CreateSub(builder.getInt64(63), within);
  llvm::Value* const fill = opcode == Instruction::AShr ? builder.CreateAShr(x[1], 63) : builder.getInt64(0);
  if (left) {
    llvm::Value* const near_high =
        builder.CreateOr(builder.CreateShl(x[1], within), builder.CreateLShr(builder.CreateLShr(x[0], 1), rest));
    llvm::Value* const moved = builder.CreateShl(x[0], within);
    return {builder.CreateSelect(far, builder.getInt64(0), moved), builder.CreateSelect(far, moved, near_high)};
  }
  llvm::Value* const near_low =
      builder.CreateOr(builder.CreateLShr(x[0], within), builder.CreateShl(builder.CreateShl(x[1], 1), rest));
  llvm::Value* const moved =
      opcode == Instruction::AShr ? builder.CreateAShr(x[1], within) : builder.CreateLShr(x[1], within);
  return {builder.CreateSelect(far, moved, near_low), builder.CreateSelect(far, fill, moved)};
}

llvm::Value* equal(Builder& builder, const Words& x, const Words& y) {
  llvm::Value* difference = builder.getInt64(0);
  for (size_t i = 0; i < x.size(); ++i) difference = builder.CreateOr(difference, builder.CreateXor(x[i], y[i]));
  return builder.CreateICmpEQ(difference, builder.getInt64(0));
}

llvm::Value* less(Builder& builder, const Words& x, const Words& y, bool is_signed) {
  llvm::Value* result = builder.getFalse();
  for (size_t i = 0; i < x.size(); ++i) {
    const bool top = i + 1 == x.size();
    llvm::Value* const below = top && is_signed ? builder.CreateICmpSLT(x[i], y[i]) : builder.CreateICmpULT(x[i], y[i]);
    llvm::Value* const same = builder.CreateICmpEQ(x[i], y[i]);
    result = builder.CreateOr(below, builder.CreateAnd(same, result));
  }
  return result;
}

llvm::Value* compare(Builder& builder, llvm::CmpInst::Predicate predicate, const Words& x, const Words& y) {
  using llvm::CmpInst;
  switch (predicate) {
    case CmpInst::ICMP_EQ:
      return equal(builder, x, y);
    case CmpInst::ICMP_NE:
      return builder.CreateNot(equal(builder, x, y));
    case CmpInst::ICMP_ULT:
      return less(builder, x, y, false);
    case CmpInst::ICMP_SLT:
      return less(builder, x, y, true);
    case CmpInst::ICMP_UGT:
      return less(builder, y, x, false);
    case CmpInst::ICMP_SGT:
      return less(builder, y, x, true);
    case CmpInst::ICMP_ULE:
      return builder.CreateNot(less(builder, y, x, false));
    case CmpInst::ICMP_SLE:
      return builder.CreateNot(less(builder, y, x, true));
    case CmpInst::ICMP_UGE:
      return builder.CreateNot(less(builder, x, y, false));
    default:
      return builder.CreateNot(less(builder, x, y, true));
  }
}

Words extended(Builder& builder, Words words, size_t count, bool is_signed) {
  words[0] = is_signed ? builder.CreateSExt(words[0], builder.getInt64Ty())
                       : builder.CreateZExt(words[0], builder.getInt64Ty());
  llvm::Value* const fill = is_signed ? builder.CreateAShr(words.back(), 63) : builder.getInt64(0);
  while (words.size() < count) words.push_back(fill);
  return words;
}

}  // namespace

Result<Splitter::Pieces> Splitter::wide_integer(Builder& builder, llvm::Instruction& instruction) {
  const Words x = pieces(instruction.getOperand(0));
  const size_t count = is_wide_integer(instruction.getType()) ? instruction.getType()->getIntegerBitWidth() / 64 : 0;
  const unsigned opcode = instruction.getOpcode();
  const auto y = [&] { return pieces(instruction.getOperand(1)); };
  switch (opcode) {
    case Instruction::Add:
      return add(builder, x, y());
    case Instruction::Sub:
      return add(builder, x, negated(builder, y()));
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor: {
      Words result;
      const Words right = y();
      for (size_t i = 0; i < x.size(); ++i)
        result.push_back(builder.CreateBinOp(static_cast<Instruction::BinaryOps>(opcode), x[i], right[i]));
      return result;
    }
    case Instruction::Mul:
      if (count == 2) return multiply(builder, x, y());
      break;
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
      if (count == 2) return shift(builder, opcode, x, y()[0]);
      break;
    case Instruction::ICmp:
      return Words{compare(builder, llvm::cast<llvm::ICmpInst>(instruction).getPredicate(), x, y())};
    case Instruction::ZExt:
      return extended(builder, x, count, false);
    case Instruction::SExt:
      return extended(builder, x, count, true);
    case Instruction::Trunc:
      if (count != 0) return Words(x.begin(), x.begin() + static_cast<ptrdiff_t>(count));
      return Words{builder.CreateTrunc(x[0], instruction.getType())};
    default:
      break;
  }
  return refuse(instruction, "no AIR form of this operation on {}", text_of(*instruction.getOperand(0)->getType()));
}

}  // namespace smelt::aot::air
