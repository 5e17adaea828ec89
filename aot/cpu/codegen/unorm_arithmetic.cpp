// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/unorm_arithmetic.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace smelt::aot::cpu {
namespace {

using llvm::Value;
namespace match = llvm::PatternMatch;

// As in runtime/sample.c and runtime/texture_near.c.
constexpr float kHigh255th = 0x1.010102p-8F;
constexpr float kLow255th = -0x1.fdfdfep-33F;
constexpr float kRounder = 0x1p23F;

bool is_constant(const Value* value, float wanted) {
  const llvm::APFloat* constant = nullptr;
  return match::match(value, match::m_APFloat(constant)) && &constant->getSemantics() == &llvm::APFloat::IEEEsingle() &&
         constant->convertToFloat() == wanted;
}

std::optional<float> constant_of(const Value* value) {
  const llvm::APFloat* constant = nullptr;
  if (!match::match(value, match::m_APFloat(constant)) || &constant->getSemantics() != &llvm::APFloat::IEEEsingle())
    return std::nullopt;
  return constant->convertToFloat();
}

/// x where `value` is the runtime's x / 255; null elsewhere.
Value* dividend(Value* value) {
  Value *x = nullptr, *low = nullptr, *high = nullptr, *same = nullptr, *product = nullptr;
  if (!match::match(value, match::m_Intrinsic<llvm::Intrinsic::fma>(match::m_Value(x), match::m_Value(high),
                                                                    match::m_Value(product))))
    return nullptr;
  if (!match::match(product, match::m_FMul(match::m_Value(same), match::m_Value(low)))) return nullptr;
  return same == x && is_constant(high, kHigh255th) && is_constant(low, kLow255th) ? x : nullptr;
}

/// What a value lies between; it is no NaN.
struct Range {
  double least;
  double most;
};

Range hull(std::initializer_list<double> corners) {
  return {std::min(corners), std::max(corners)};
}

constexpr unsigned kDeepest = 6;

/// As real numbers: roundings are below what the callers allow for.
std::optional<Range> range_of(Value* value, const llvm::DataLayout& layout, unsigned depth = 0) {
  if (const auto constant = constant_of(value)) {
    if (!std::isfinite(*constant)) return std::nullopt;
    return Range{*constant, *constant};
  }
  if (depth == kDeepest) return std::nullopt;
  const auto range = [&](Value* operand) { return range_of(operand, layout, depth + 1); };
  if (Value* x = dividend(value)) {
    const auto given = range(x);
    return given ? std::optional(Range{given->least / 255, given->most / 255}) : std::nullopt;
  }
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction == nullptr) return std::nullopt;
  switch (instruction->getOpcode()) {
    case llvm::Instruction::SIToFP:
    case llvm::Instruction::UIToFP: {
      const llvm::KnownBits bits = llvm::computeKnownBits(instruction->getOperand(0), layout);
      const bool is_signed = instruction->getOpcode() == llvm::Instruction::SIToFP;
      if (is_signed && !bits.isNonNegative()) return std::nullopt;
      return Range{bits.getMinValue().roundToDouble(), bits.getMaxValue().roundToDouble()};
    }
    case llvm::Instruction::FMul:
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub: {
      const auto a = range(instruction->getOperand(0)), b = range(instruction->getOperand(1));
      if (!a || !b) return std::nullopt;
      if (instruction->getOpcode() == llvm::Instruction::FAdd) return Range{a->least + b->least, a->most + b->most};
      if (instruction->getOpcode() == llvm::Instruction::FSub) return Range{a->least - b->most, a->most - b->least};
      return hull({a->least * b->least, a->least * b->most, a->most * b->least, a->most * b->most});
    }
    default:
      return std::nullopt;
  }
}

/// Replaces what the kernel makes of the runtime's `quotient`, where it may be done in another order.
bool use_dividend(llvm::Instruction& quotient, Value* x) {
  bool changed = false;
  Value* product = nullptr;
  for (llvm::Use& use : llvm::make_early_inc_range(quotient.uses())) {
    auto* const user = llvm::cast<llvm::Instruction>(use.getUser());
    if (!llvm::isa<llvm::FPMathOperator>(user) || !user->hasAllowReassoc()) continue;
    // Of the runtime's own product with 255 no flag says it.
    if (!user->hasAllowReciprocal() &&
        (user->getOpcode() != llvm::Instruction::FMul || !is_constant(user->getOperand(1), 255.0F)))
      continue;
    llvm::IRBuilder<> builder(user);
    if (user->getOpcode() == llvm::Instruction::FMul) {
      Value* const other = user->getOperand(1 - use.getOperandNo());
      if (other == &quotient) continue;
      builder.setFastMathFlags(user->getFastMathFlags());
      Value* factor = nullptr;
      if (const auto constant = constant_of(other))
        factor = llvm::ConstantFP::get(other->getType(), static_cast<double>(*constant) / 255);
      else if (auto* const scalar = const_cast<Value*>(llvm::getSplatValue(other)))
        factor =
            builder.CreateVectorSplat(llvm::cast<llvm::VectorType>(other->getType())->getElementCount(),
                                      builder.CreateFMul(scalar, llvm::ConstantFP::get(scalar->getType(), 1.0 / 255)));
      if (factor != nullptr) {
        Value* const made = is_constant(factor, 1.0F) ? x : builder.CreateFMul(x, factor);
        user->replaceAllUsesWith(made);
        changed = true;
        continue;
      }
    } else if (user->getOpcode() != llvm::Instruction::FAdd && user->getOpcode() != llvm::Instruction::FSub) {
      const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
      if (call == nullptr ||
          (call->getIntrinsicID() != llvm::Intrinsic::fma && call->getIntrinsicID() != llvm::Intrinsic::fmuladd))
        continue;
    }
    if (product == nullptr) {
      llvm::IRBuilder<> behind(quotient.getNextNode());
      llvm::FastMathFlags flags;
      flags.setFast();
      behind.setFastMathFlags(flags);
      product = behind.CreateFMul(x, llvm::ConstantFP::get(x->getType(), 1.0 / 255));
    }
    use.set(product);
    changed = true;
  }
  return changed;
}

/// How far from a whole number of bytes rounding still finds it, with a reserve.
constexpr double kSlack = 0.125;

/// `sum` rounds to a byte: max(x, 0), then min with 255, then + 2^23. Clamps that change nothing go.
bool drop_clamps(llvm::Instruction& sum, const llvm::DataLayout& layout) {
  Value *rounder = nullptr, *low = nullptr, *x = nullptr, *zero = nullptr, *most = nullptr;
  if (!match::match(&sum, match::m_FAdd(match::m_Value(low), match::m_Value(rounder))) ||
      !is_constant(rounder, kRounder))
    return false;
  Value* inner = low;
  const bool has_most =
      match::match(low, match::m_Intrinsic<llvm::Intrinsic::minnum>(match::m_Value(inner), match::m_Value(most)));
  if (has_most && !is_constant(most, 255.0F)) return false;
  const bool has_least =
      match::match(inner, match::m_Intrinsic<llvm::Intrinsic::maxnum>(match::m_Value(x), match::m_Value(zero)));
  if (has_least && !is_constant(zero, 0.0F)) return false;
  if (!has_least) x = inner;
  if (!has_most && !has_least) return false;
  const auto range = range_of(x, layout);
  if (!range) return false;
  const bool needs_least = has_least && range->least < -kSlack, needs_most = has_most && range->most > 255 + kSlack;
  if (needs_least == has_least && needs_most == has_most) return false;
  llvm::IRBuilder<> builder(&sum);
  if (needs_least) x = builder.CreateMaxNum(x, zero);
  if (needs_most) x = builder.CreateMinNum(x, most);
  sum.setOperand(0, x);
  return true;
}

/// The bits of 2^23 + i are those of 2^23, plus i.
bool add_as_integers(llvm::Instruction& cast, const llvm::DataLayout& layout) {
  Value *whole = nullptr, *rounder = nullptr, *i = nullptr;
  if (!match::match(&cast, match::m_BitCast(match::m_FAdd(match::m_Value(whole), match::m_Value(rounder)))) ||
      !is_constant(rounder, kRounder) || !cast.getType()->isIntOrIntVectorTy(32))
    return false;
  if (!match::match(whole, match::m_SIToFP(match::m_Value(i))) &&
      !match::match(whole, match::m_UIToFP(match::m_Value(i))))
    return false;
  if (i->getType() != cast.getType()) return false;
  const llvm::KnownBits bits = llvm::computeKnownBits(i, layout);
  if (bits.getMaxValue().ugt((1U << 23) - 1)) return false;
  llvm::IRBuilder<> builder(&cast);
  constexpr uint32_t kBitsOfRounder = 0x4b000000;
  cast.replaceAllUsesWith(builder.CreateAdd(i, llvm::ConstantInt::get(i->getType(), kBitsOfRounder)));
  return true;
}

}  // namespace

llvm::PreservedAnalyses UnormArithmetic::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (Value* const x = dividend(&instruction)) {
      changed |= use_dividend(instruction, x);
    } else if (instruction.getOpcode() == llvm::Instruction::FAdd) {
      changed |= drop_clamps(instruction, layout);
    } else if (instruction.getOpcode() == llvm::Instruction::BitCast) {
      changed |= add_as_integers(instruction, layout);
    }
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace smelt::aot::cpu
