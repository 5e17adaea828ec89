// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointer constant expressions in code become instructions: Apple has none inside functions from AIR 2.7 on, and a
// writer of typed pointers is simpler to trust without them (docs/formats/air.md 4.3). Initialisers keep theirs.
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"

#include <map>

namespace smelt::aot::air {
namespace {

/// The expression as instructions before `at`, operands first.
llvm::Value* expand(llvm::Constant* constant, llvm::Instruction* at) {
  auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant);
  if (!expression) return constant;
  llvm::Instruction* instruction = expression->getAsInstruction();
  instruction->insertBefore(at);
  for (llvm::Use& operand : instruction->operands())
    if (auto* inner = llvm::dyn_cast<llvm::ConstantExpr>(operand.get())) operand.set(expand(inner, instruction));
  return instruction;
}

}  // namespace

Result<void> expand_pointer_constants(PassContext& context) {
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
        auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(phi->getIncomingValue(i));
        if (!expression) continue;
        llvm::BasicBlock* from = phi->getIncomingBlock(i);
        const int first = phi->getBasicBlockIndex(from);
        llvm::Value* value = first >= 0 && static_cast<unsigned>(first) < i
                                 ? phi->getIncomingValue(static_cast<unsigned>(first))
                                 : expand(expression, from->getTerminator());
        phi->setIncomingValue(i, value);
      }
      continue;
    }
    for (llvm::Use& operand : instruction->operands())
      if (auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(operand.get()))
        operand.set(expand(expression, instruction));
  }
  return {};
}

}  // namespace smelt::aot::air
