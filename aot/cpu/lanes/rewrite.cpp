// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/rewrite.hpp"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

namespace smelt::aot::cpu::lanes {

llvm::AllocaInst* Variables::make(llvm::Type* type, llvm::StringRef name) {
  llvm::IRBuilder<> builder(&function_.getEntryBlock(), function_.getEntryBlock().begin());
  slots_.push_back(builder.CreateAlloca(type, nullptr, name));
  return slots_.back();
}

void Variables::set(llvm::AllocaInst* variable, llvm::Value* value, llvm::BasicBlock* block) {
  llvm::IRBuilder<>(block->getTerminator()).CreateStore(value, variable);
}

llvm::Value* Variables::get(llvm::AllocaInst* variable, llvm::BasicBlock* block) {
  llvm::Instruction* end = block->getTerminator();
  llvm::IRBuilder<> builder(block);
  if (end) builder.SetInsertPoint(end);
  return builder.CreateLoad(variable->getAllocatedType(), variable);
}

void Variables::promote() {
  llvm::DominatorTree dominators(function_);
  llvm::SmallVector<llvm::Instruction*, 16> stranded;
  for (llvm::Instruction& instruction : llvm::instructions(function_)) {
    if (llvm::isa<llvm::AllocaInst>(instruction)) continue;
    for (const llvm::Use& use : instruction.uses()) {
      if (dominators.dominates(&instruction, use)) continue;
      stranded.push_back(&instruction);
      break;
    }
  }
  const auto first = function_.getEntryBlock().begin();
  for (llvm::Instruction* instruction : stranded) {
    slots_.push_back(llvm::DemoteRegToStack(*instruction, /*VolatileLoads=*/false, first));
  }
  llvm::erase(slots_, nullptr);
  llvm::PromoteMemToReg(slots_, dominators);
  slots_.clear();
}

}  // namespace smelt::aot::cpu::lanes
