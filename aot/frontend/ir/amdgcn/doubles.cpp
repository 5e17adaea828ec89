// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OCML takes the exponent of a float through double: in log1p, pow, fmod, hypot and more of float. A float's exponent
// and fraction are exact in float, so nothing is lost by asking there; and no Apple GPU has doubles.
#include "ir/amdgcn/site.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace smelt::aot::input::amdgcn {

void narrow_doubles(llvm::Module& module) {
  llvm::SmallVector<llvm::IntrinsicInst*> calls;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          call && call->getIntrinsicID() == llvm::Intrinsic::frexp && call->getArgOperand(0)->getType()->isDoubleTy() &&
          llvm::isa<llvm::FPExtInst>(call->getArgOperand(0)))
        calls.push_back(call);
  for (llvm::IntrinsicInst* call : calls) {
    llvm::IRBuilder<> ir(call);
    llvm::Value* const narrow = llvm::cast<llvm::FPExtInst>(call->getArgOperand(0))->getOperand(0);
    llvm::Type* const exponent = call->getType()->getStructElementType(1);
    llvm::Value* const pair = ir.CreateIntrinsic(llvm::Intrinsic::frexp, {narrow->getType(), exponent}, {narrow});
    llvm::Value* result = llvm::PoisonValue::get(call->getType());
    result = ir.CreateInsertValue(result, ir.CreateFPExt(ir.CreateExtractValue(pair, 0), ir.getDoubleTy()), 0);
    result = ir.CreateInsertValue(result, ir.CreateExtractValue(pair, 1), 1);
    call->replaceAllUsesWith(result);
    call->eraseFromParent();
  }
}

}  // namespace smelt::aot::input::amdgcn
