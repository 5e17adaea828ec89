// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/context.hpp"

#include "work_item/work_item.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

#include <bit>

namespace smelt::aot::cpu::lanes {

GangContext::GangContext(llvm::Function& source_function, llvm::Function& target_function, const Analysis& known,
                         const EmitOptions& emit_options)
    : source(source_function),
      target(target_function),
      analysis(known),
      options(emit_options),
      layout(source.getParent()->getDataLayout()),
      builder(llvm::BasicBlock::Create(source.getContext(), "gang", &target)) {}

// Values made at the end of a block may stand behind the place to which this returns, so none of them is used again.
void GangContext::return_to(llvm::BasicBlock* block) {
  builder.SetInsertPoint(block->getTerminator());
  made_in_ = nullptr;
}

llvm::AllocaInst* GangContext::allocate(uint64_t bytes) {
  llvm::BasicBlock& entry = target.getEntryBlock();
  llvm::IRBuilder<> top(&entry, entry.begin());
  llvm::AllocaInst* made = top.CreateAlloca(llvm::ArrayType::get(top.getInt8Ty(), bytes));
  made->setAlignment(llvm::Align(64));
  return made;
}

llvm::AllocaInst* GangContext::scratch(unsigned number, uint64_t bytes) {
  const uint64_t rounded = std::bit_ceil(bytes);
  llvm::AllocaInst*& made = scratch_[rounded * kMostScratch + number];
  if (made) return made;
  made = allocate(rounded);
  made->setMetadata(kScratch, llvm::MDNode::get(builder.getContext(), {}));
  return made;
}

}  // namespace smelt::aot::cpu::lanes
