// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/unreachable.hpp"

#include "llvm_support/returns.hpp"

#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::cpu {
namespace {

/// Nothing but where switches go that have a case for every value.
bool is_default_alone(const llvm::BasicBlock& block) {
  if (block.size() != 1 || !block.hasNPredecessorsOrMore(1)) return false;
  return llvm::all_of(llvm::predecessors(&block), [&](const llvm::BasicBlock* from) {
    const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(from->getTerminator());
    return choice != nullptr &&
           llvm::none_of(choice->cases(), [&](const auto& one) { return one.getCaseSuccessor() == &block; });
  });
}

}  // namespace

void return_at_unreachable(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.removeFnAttr(llvm::Attribute::NoReturn);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) call->removeFnAttr(llvm::Attribute::NoReturn);
    for (llvm::BasicBlock& block : function)
      if (llvm::isa<llvm::UnreachableInst>(block.getTerminator()) && !is_default_alone(block))
        return_instead(*block.getTerminator());
  }
}

}  // namespace smelt::aot::cpu
