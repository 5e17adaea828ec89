// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/texel_rows.hpp"

#include "runtime/runtime.hpp"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

#include <optional>

namespace smelt::aot::cpu {
namespace {

using llvm::Value;
namespace match = llvm::PatternMatch;

/// How many operations one after another a row is made of at the most.
constexpr unsigned kLongestChain = 6;

/// Whether all elements of `value` are the same.
bool is_splat(const Value* value) {
  if (llvm::getSplatValue(value) != nullptr) return true;
  const auto* const shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(value);
  if (shuffle == nullptr) return false;
  const int from = llvm::getSplatIndex(shuffle->getShuffleMask());
  const auto width = llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements();
  return from >= 0 && from < static_cast<int>(width);
}

/// What they are.
Value* splatted(Value* value, llvm::IRBuilder<>& builder) {
  if (Value* const scalar = const_cast<Value*>(llvm::getSplatValue(value))) return scalar;
  const auto* const shuffle = llvm::cast<llvm::ShuffleVectorInst>(value);
  return builder.CreateExtractElement(shuffle->getOperand(0),
                                      static_cast<uint64_t>(llvm::getSplatIndex(shuffle->getShuffleMask())));
}

/// One number for all lanes is computed once: LLVM does so for sums and products, and for minima and maxima not. Then
/// it sees that all lanes have the same y.
bool compute_once(llvm::Instruction& instruction) {
  auto* const limit = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&instruction);
  const bool is_sum = instruction.getOpcode() == llvm::Instruction::Add;
  if ((limit == nullptr && !is_sum) || !instruction.getType()->isVectorTy()) return false;
  if (!is_splat(instruction.getOperand(0)) || !is_splat(instruction.getOperand(1))) return false;
  llvm::IRBuilder<> builder(&instruction);
  Value* const a = splatted(instruction.getOperand(0), builder);
  Value* const b = splatted(instruction.getOperand(1), builder);
  Value* const one = is_sum ? builder.CreateAdd(a, b) : builder.CreateBinaryIntrinsic(limit->getIntrinsicID(), a, b);
  instruction.replaceAllUsesWith(
      builder.CreateVectorSplat(llvm::cast<llvm::VectorType>(instruction.getType())->getElementCount(), one));
  return true;
}

/// Numbers that grow by 1 from lane to lane, cut off by minima and maxima that are all signed or all unsigned. Such a
/// row grows by 0 or 1 from lane to lane, unless it wraps around.
class CutRow {
 public:
  static bool is(Value* value) {
    std::optional<bool> is_signed;
    return is_one(value, is_signed, 0);
  }

  /// The number of a lane of one.
  static Value* element(Value* value, unsigned lane, llvm::IRBuilder<>& builder) {
    if (auto* const constant = llvm::dyn_cast<llvm::Constant>(value)) return constant->getAggregateElement(lane);
    if (is_splat(value)) return splatted(value, builder);
    if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(value))
      return element(shuffle->getOperand(0), static_cast<unsigned>(shuffle->getMaskValue(lane)), builder);
    auto* const made = llvm::cast<llvm::Instruction>(value);
    Value* const a = element(made->getOperand(0), lane, builder);
    Value* const b = element(made->getOperand(1), lane, builder);
    const auto* const limit = llvm::dyn_cast<llvm::MinMaxIntrinsic>(made);
    return limit == nullptr ? builder.CreateAdd(a, b) : builder.CreateBinaryIntrinsic(limit->getIntrinsicID(), a, b);
  }

  /// Whether a constant is 0, 1, 2 and so on, from any number.
  static bool is_steps(const Value* value) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantDataVector>(value);
    if (constant == nullptr || !constant->getElementType()->isIntegerTy(32)) return false;
    for (unsigned i = 1; i < constant->getNumElements(); ++i)
      if (constant->getElementAsInteger(i) != constant->getElementAsInteger(0) + i) return false;
    return true;
  }

 private:
  static bool is_whole(Value* value, unsigned depth) {
    if (is_steps(value)) return true;
    const auto* const sum = llvm::dyn_cast<llvm::BinaryOperator>(value);
    if (sum == nullptr || sum->getOpcode() != llvm::Instruction::Add || depth > kLongestChain) return false;
    Value *const a = sum->getOperand(0), *const b = sum->getOperand(1);
    return (is_splat(a) && is_whole(b, depth + 1)) || (is_splat(b) && is_whole(a, depth + 1));
  }

  static bool is_one(Value* value, std::optional<bool>& is_signed, unsigned depth) {
    if (depth > kLongestChain || !value->getType()->isVectorTy()) return false;
    if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(value)) {
      int first = 0;
      const int width =
          static_cast<int>(llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements());
      return llvm::ShuffleVectorInst::isExtractSubvectorMask(shuffle->getShuffleMask(), width, first) &&
             is_one(shuffle->getOperand(0), is_signed, depth + 1);
    }
    const auto* const limit = llvm::dyn_cast<llvm::MinMaxIntrinsic>(value);
    if (limit == nullptr) return !is_steps(value) && is_whole(value, depth);
    if (is_signed && *is_signed != limit->isSigned()) return false;
    is_signed = limit->isSigned();
    Value *const a = limit->getLHS(), *const b = limit->getRHS();
    return (is_splat(a) && is_one(b, is_signed, depth + 1)) || (is_splat(b) && is_one(a, is_signed, depth + 1));
  }
};

/// What such a row begins with is computed by itself.
bool compute_first(llvm::ExtractElementInst& extract) {
  const auto* const lane = llvm::dyn_cast<llvm::ConstantInt>(extract.getIndexOperand());
  if (lane == nullptr || !lane->isZero() || !CutRow::is(extract.getVectorOperand())) return false;
  llvm::IRBuilder<> builder(&extract);
  extract.replaceAllUsesWith(CutRow::element(extract.getVectorOperand(), 0, builder));
  return true;
}

/// Whether all elements of `value` are lane 0 of `row`, which may be a half of a longer one.
bool repeats_first_of(Value* value, Value* row) {
  Value* whole = nullptr;
  uint64_t lane = 0;
  if (Value* const number = const_cast<Value*>(llvm::getSplatValue(value))) {
    if (!match::match(number, match::m_ExtractElt(match::m_Value(whole), match::m_ConstantInt(lane)))) return false;
  } else if (is_splat(value)) {
    const auto* const shuffle = llvm::cast<llvm::ShuffleVectorInst>(value);
    whole = shuffle->getOperand(0);
    lane = static_cast<uint64_t>(llvm::getSplatIndex(shuffle->getShuffleMask()));
  } else {
    return false;
  }
  if (whole == row) return lane == 0;
  const auto* const half = llvm::dyn_cast<llvm::ShuffleVectorInst>(row);
  return half != nullptr && half->getOperand(0) == whole && half->getMaskValue(0) == static_cast<int>(lane);
}

/// Whether lanes differ from numbers side by side (runtime/texture_near.c, row_of()): of a row that grows by 0 or 1
/// the ends tell. It did not wrap around where it is far below 2^31: both ends would have to be at it.
bool compare_ends(llvm::ICmpInst& compare) {
  if (!compare.hasMetadata(kRowTest)) return false;
  const auto* const type = llvm::dyn_cast<llvm::FixedVectorType>(compare.getOperand(0)->getType());
  if (type == nullptr || compare.getPredicate() != llvm::ICmpInst::ICMP_NE || !type->getElementType()->isIntegerTy(32))
    return false;
  for (unsigned side = 0; side < 2; ++side) {
    Value* const row = compare.getOperand(side);
    Value *first = nullptr, *steps = nullptr;
    if (!match::match(compare.getOperand(1 - side), match::m_Add(match::m_Value(first), match::m_Value(steps))) ||
        !CutRow::is_steps(steps) || !llvm::cast<llvm::Constant>(steps)->getAggregateElement(0U)->isNullValue())
      continue;
    if (!repeats_first_of(first, row) || !CutRow::is(row)) continue;
    llvm::IRBuilder<> builder(&compare);
    const unsigned last = type->getNumElements() - 1;
    Value* const at = CutRow::element(row, 0, builder);
    Value* const grown = builder.CreateSub(CutRow::element(row, last, builder), at);
    Value* const apart = builder.CreateOr(builder.CreateICmpNE(grown, builder.getInt32(last)),
                                          builder.CreateICmpUGT(at, builder.getInt32(0x7fffffff - last)));
    compare.replaceAllUsesWith(builder.CreateVectorSplat(type->getElementCount(), apart));
    return true;
  }
  return false;
}

}  // namespace

llvm::PreservedAnalyses TexelRows::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  // They look for lanes that are taken from vectors, which the rest replaces.
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
    if (auto* const compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) changed |= compare_ends(*compare);
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
    if (auto* const extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction))
      changed |= compute_first(*extract);
    else
      changed |= compute_once(instruction);
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace smelt::aot::cpu
