// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Thread memory in Apple's form: constant-size allocas at the head of the entry block, one element of their type, count
// i32.
#include "legalise/support.hpp"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {

Result<void> entry_allocas(PassContext& context) {
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(instruction);
    if (!alloca) continue;
    const auto* count = llvm::dyn_cast<llvm::ConstantInt>(alloca->getArraySize());
    if (!count) return refuse(*alloca, "thread memory of a size that is only known when the kernel runs");
    llvm::Function& function = *alloca->getFunction();
    const bool in_place = alloca->getParent() == &function.getEntryBlock() && count->isOne() &&
                          count->getType()->isIntegerTy(32) && alloca->getAddressSpace() == kThread;
    if (in_place) continue;
    if (alloca->getAddressSpace() != kThread)
      return refuse(*alloca, "thread memory in address space {}; AIR has it in 0", alloca->getAddressSpace());
    llvm::Type* type = alloca->getAllocatedType();
    if (!count->isOne()) type = llvm::ArrayType::get(type, count->getZExtValue());
    llvm::AllocaInst* moved = make_alloca(function, type, "");
    moved->setAlignment(alloca->getAlign());
    moved->takeName(alloca);
    alloca->replaceAllUsesWith(moved);
    alloca->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::air
