// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trap or an `unreachable` that is reached hangs a GPU (docs/formats/air.md 3.5, 5.2): both become a return. What
// follows a trap in its block is cut off.
#include "legalise/support.hpp"
#include "llvm_support/returns.hpp"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

namespace smelt::aot::air {
namespace {

bool is_trap(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call &&
         (call->getIntrinsicID() == llvm::Intrinsic::trap || call->getIntrinsicID() == llvm::Intrinsic::ubsantrap);
}

}  // namespace

Result<void> traps_to_return(PassContext& context) {
  for (llvm::Function& function : context.module) {
    if (function.isDeclaration()) continue;
    std::vector<llvm::Instruction*> ends;
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
        if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
            call && call->getIntrinsicID() == llvm::Intrinsic::debugtrap) {
          instruction.eraseFromParent();
          continue;
        }
        if (!is_trap(instruction) && !llvm::isa<llvm::UnreachableInst>(instruction)) continue;
        ends.push_back(&instruction);
        break;  // the rest of the block goes
      }
    for (llvm::Instruction* end : ends) {
      if (end != &end->getParent()->back()) llvm::changeToUnreachable(end);
    }
    for (llvm::BasicBlock& block : function)
      if (llvm::isa<llvm::UnreachableInst>(block.getTerminator())) return_instead(*block.getTerminator());
    if (!ends.empty()) {
      function.removeFnAttr(llvm::Attribute::NoReturn);
      llvm::removeUnreachableBlocks(function);
    }
  }
  for (llvm::Instruction* instruction : instructions_of(context.module))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(instruction)) call->removeFnAttr(llvm::Attribute::NoReturn);
  for (llvm::Function& function : llvm::make_early_inc_range(context.module))
    if (function.isIntrinsic() && function.use_empty() && function.getName().contains("trap"))
      function.eraseFromParent();
  return {};
}

}  // namespace smelt::aot::air
