// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/scalar_conditions.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace smelt::aot::cpu {
namespace {

constexpr unsigned kDeepest = 4;

/// Whether only components at constant places are used of a vector of conditions and of those that it is made of.
bool is_taken_apart(const llvm::Value* vector, unsigned depth = 0) {
  const bool compares = llvm::isa<llvm::CmpInst>(vector);
  const auto* logic = llvm::dyn_cast<llvm::BinaryOperator>(vector);
  if ((!compares && !logic) || depth == kDeepest) return false;
  const bool are_taken = llvm::all_of(vector->users(), [&](const llvm::User* user) {
    const auto* taken = llvm::dyn_cast<llvm::ExtractElementInst>(user);
    return taken ? llvm::isa<llvm::ConstantInt>(taken->getIndexOperand()) : depth > 0;
  });
  if (!are_taken) return false;
  return compares || llvm::all_of(logic->operands(), [&](const llvm::Use& operand) {
           return llvm::isa<llvm::Constant>(operand) || is_taken_apart(operand, depth + 1);
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

void compare_components(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* taken = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction);
    if (!taken || !taken->getType()->isIntegerTy(1) || !is_taken_apart(taken->getVectorOperand())) continue;
    llvm::IRBuilder<> builder(taken);
    taken->replaceAllUsesWith(emit_component(builder, taken->getVectorOperand(), taken->getIndexOperand()));
    // What the vector was made of may lie behind; simplify_and_unroll() removes it.
    taken->eraseFromParent();
  }
}

}  // namespace smelt::aot::cpu
