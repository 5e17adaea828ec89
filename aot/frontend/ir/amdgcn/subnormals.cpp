// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats that a kernel makes of integers and that may be subnormal.
#include "ir/amdgcn/site.hpp"

#include "llvm/ADT/APFloat.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"

namespace smelt::aot::input::amdgcn {
namespace {

using namespace llvm::PatternMatch;

/// A product of a float whose bits come from integers with a constant that makes every subnormal a normal number.
struct Scaled {
  llvm::BinaryOperator* product;
  llvm::Value* bits;
  llvm::APFloat factor;
};

std::optional<Scaled> scaled(llvm::Instruction& instruction) {
  llvm::Value* bits = nullptr;
  const llvm::APFloat* factor = nullptr;
  if (!match(&instruction, m_c_FMul(m_BitCast(m_Value(bits)), m_APFloat(factor)))) return std::nullopt;
  if (!instruction.getType()->isFloatTy() || !bits->getType()->isIntegerTy(32)) return std::nullopt;
  const llvm::KnownBits known = llvm::computeKnownBits(bits, instruction.getModule()->getDataLayout());
  if (known.One.intersects(llvm::APInt(32, 0x7f800000))) return std::nullopt;  // no subnormal
  constexpr int kLeast = 23;  // 2^23 times the least subnormal, 2^-149, is the least normal number
  if (!factor->isFiniteNonZero() || ilogb(*factor) < kLeast) return std::nullopt;
  return Scaled{llvm::cast<llvm::BinaryOperator>(&instruction), bits, *factor};
}

/// A subnormal is its fraction times 2^-149, and both factors of fraction * (2^-149 * factor) are normal.
void replace(const Scaled& found) {
  llvm::IRBuilder<> ir(found.product->getNextNode());
  llvm::Value* const fraction = ir.CreateAnd(found.bits, 0x7fffff);
  llvm::Value* const whole = ir.CreateUIToFP(fraction, ir.getFloatTy());
  const llvm::APFloat factor = scalbn(found.factor, -149, llvm::APFloat::rmNearestTiesToEven);
  llvm::Value* const small = ir.CreateFMul(whole, llvm::ConstantFP::get(ir.getContext(), factor));
  llvm::Value* const sign = ir.CreateAnd(found.bits, 0x80000000);
  llvm::Value* const exact =
      ir.CreateBitCast(ir.CreateXor(ir.CreateBitCast(small, ir.getInt32Ty()), sign), ir.getFloatTy());
  llvm::Value* const is_small = ir.CreateICmpEQ(ir.CreateAnd(found.bits, 0x7f800000), ir.getInt32(0));
  llvm::Value* const chosen = ir.CreateSelect(is_small, exact, found.product);
  found.product->replaceUsesWithIf(chosen, [&](llvm::Use& use) { return use.getUser() != chosen; });
}

}  // namespace

void scale_subnormals(llvm::Function& function) {
  if (function.getFnAttribute("denormal-fp-math-f32").getValueAsString().starts_with("preserve-sign")) return;
  llvm::SmallVector<Scaled> found;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto one = scaled(instruction)) found.push_back(std::move(*one));
  for (const Scaled& one : found) replace(one);
}

}  // namespace smelt::aot::input::amdgcn
