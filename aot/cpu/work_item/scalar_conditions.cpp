// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/scalar_conditions.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace smelt::aot::cpu {
namespace {

constexpr unsigned kDeepest = 4;

/// A comparison, or logic of comparisons and constants.
bool is_condition(const llvm::Value* vector, unsigned depth = 0) {
  if (llvm::isa<llvm::CmpInst>(vector) || llvm::isa<llvm::Constant>(vector)) return true;
  const auto* logic = llvm::dyn_cast<llvm::BinaryOperator>(vector);
  return logic && depth < kDeepest &&
         llvm::all_of(logic->operands(), [&](const llvm::Use& operand) { return is_condition(operand, depth + 1); });
}

/// Whether each use of the vector takes one component, at a place that is known.
bool is_taken_apart(const llvm::Value* vector) {
  return llvm::all_of(vector->users(), [](const llvm::User* user) {
    const auto* taken = llvm::dyn_cast<llvm::ExtractElementInst>(user);
    return taken && llvm::isa<llvm::ConstantInt>(taken->getIndexOperand());
  });
}

llvm::Value* emit_component(llvm::IRBuilder<>& builder, llvm::Value* vector, llvm::Value* index) {
  auto* compare = llvm::dyn_cast<llvm::CmpInst>(vector);
  auto* logic = llvm::dyn_cast<llvm::BinaryOperator>(vector);
  if (logic) {
    llvm::Value* left = emit_component(builder, logic->getOperand(0), index);
    return builder.CreateBinOp(logic->getOpcode(), left, emit_component(builder, logic->getOperand(1), index));
  }
  if (!compare) return builder.CreateExtractElement(vector, index);
  llvm::Value* made =
      builder.CreateCmp(compare->getPredicate(), builder.CreateExtractElement(compare->getOperand(0), index),
                        builder.CreateExtractElement(compare->getOperand(1), index));
  if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(made)) instruction->copyIRFlags(compare);
  return made;
}

}  // namespace

// The vectors stay until simplify_and_unroll() removes what nothing uses.
void compare_components(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* taken = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction);
    if (!taken || !taken->getType()->isIntegerTy(1)) continue;
    llvm::Value* const vector = taken->getVectorOperand();
    if (llvm::isa<llvm::Constant>(vector) || !is_condition(vector) || !is_taken_apart(vector)) continue;
    llvm::IRBuilder<> builder(taken);
    taken->replaceAllUsesWith(emit_component(builder, vector, taken->getIndexOperand()));
    taken->eraseFromParent();
  }
}

}  // namespace smelt::aot::cpu
