// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/wide_products.hpp"

#include "lower/collectives.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot::cpu {
namespace {

/// Instructions that run for one such product, at most.
constexpr uint64_t kInstructionsPerProduct = 120;
/// How often a loop is taken to go round, as a power of two; loops are counted up to this depth.
constexpr unsigned kLogOfTurns = 3, kMostDepth = 4;

bool is_wide_product(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  if (callee == nullptr || call->getType()->getScalarSizeInBits() != 64) return false;
  return callee->getName().starts_with("air.mul_hi.") || callee->getName().starts_with("air.mad_hi.");
}

}  // namespace

bool has_wide_products(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && parse_collective(std::string_view(function.getName()))) return false;
  uint64_t products = 0, all = 0;
  for (const llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::DominatorTree dominators(const_cast<llvm::Function&>(function));
    const llvm::LoopInfo loops(dominators);
    for (const llvm::BasicBlock& block : function) {
      const uint64_t times = uint64_t{1} << kLogOfTurns * std::min(loops.getLoopDepth(&block), kMostDepth);
      all += times * block.size();
      for (const llvm::Instruction& instruction : block) products += times * is_wide_product(instruction);
    }
  }
  return products != 0 && products * kInstructionsPerProduct >= all;
}

}  // namespace smelt::aot::cpu
