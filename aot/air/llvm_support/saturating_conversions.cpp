// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/saturating_conversions.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace smelt::aot {

void saturate_conversions(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(instruction)) continue;
    llvm::Value* const from = instruction.getOperand(0);
    llvm::IRBuilder<> builder(&instruction);
    llvm::Value* const made = builder.CreateIntrinsic(
        llvm::isa<llvm::FPToSIInst>(instruction) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
        {instruction.getType(), from->getType()}, {from});
    instruction.replaceAllUsesWith(made);
    instruction.eraseFromParent();
  }
}

void plain_conversions(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call == nullptr || llvm::isa<llvm::Constant>(call->getArgOperand(0))) continue;
    const llvm::Intrinsic::ID id = call->getIntrinsicID();
    if (id != llvm::Intrinsic::fptosi_sat && id != llvm::Intrinsic::fptoui_sat) continue;
    llvm::IRBuilder<> builder(call);
    llvm::Value* const made = id == llvm::Intrinsic::fptosi_sat
                                  ? builder.CreateFPToSI(call->getArgOperand(0), call->getType())
                                  : builder.CreateFPToUI(call->getArgOperand(0), call->getType());
    made->takeName(call);
    call->replaceAllUsesWith(made);
    call->eraseFromParent();
  }
}

}  // namespace smelt::aot
