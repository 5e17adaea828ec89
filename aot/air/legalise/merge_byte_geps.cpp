// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gep i8 (gep i8 p, a), b  ->  gep i8 p, a + b. A one-byte access through a chain of byte GEPs came out wrong on
// Apple's side (docs/formats/air.md 5.2); a single one is right. The inner GEP stays for its other uses.
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

namespace smelt::aot::air {
namespace {

llvm::GetElementPtrInst* byte_gep(llvm::Value* value) {
  auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(value);
  if (!gep || !gep->getSourceElementType()->isIntegerTy(8) || gep->getNumIndices() != 1) return nullptr;
  return gep->getType()->isVectorTy() ? nullptr : gep;
}

}  // namespace

Result<void> merge_byte_geps(PassContext& context) {
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    llvm::GetElementPtrInst* outer = byte_gep(instruction);
    if (!outer) continue;
    while (llvm::GetElementPtrInst* inner = byte_gep(outer->getPointerOperand())) {
      llvm::IRBuilder<> builder(outer);
      llvm::Type* const i64 = builder.getInt64Ty();
      const bool in_bounds = outer->isInBounds() && inner->isInBounds();
      llvm::Value* sum = builder.CreateAdd(builder.CreateSExtOrTrunc(inner->getOperand(1), i64),
                                           builder.CreateSExtOrTrunc(outer->getOperand(1), i64), "offset");
      outer->setOperand(0, inner->getPointerOperand());
      outer->setOperand(1, sum);
      outer->setNoWrapFlags(in_bounds ? llvm::GEPNoWrapFlags::inBounds() : llvm::GEPNoWrapFlags::none());
    }
  }
  for (llvm::Instruction* instruction : instructions_of(context.module))
    if (llvm::isInstructionTriviallyDead(instruction) && byte_gep(instruction)) instruction->eraseFromParent();
  return {};
}

}  // namespace smelt::aot::air
