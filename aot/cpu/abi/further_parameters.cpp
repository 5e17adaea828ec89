// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/further_parameters.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

namespace smelt::aot::cpu {

llvm::Function* with_parameters(llvm::Function& old, llvm::ArrayRef<llvm::Type*> types, const llvm::Twine& name) {
  llvm::SmallVector<llvm::Type*> all(old.getFunctionType()->params());
  all.append(types.begin(), types.end());
  auto* type = llvm::FunctionType::get(old.getReturnType(), all, false);
  return llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, old.getParent());
}

void take_body(llvm::Function& made, llvm::Function& old) {
  made.splice(made.begin(), &old);
  for (unsigned i = 0; i < old.arg_size(); ++i) {
    old.getArg(i)->replaceAllUsesWith(made.getArg(i));
    made.getArg(i)->takeName(old.getArg(i));
  }
}

llvm::CallInst* call_instead(llvm::CallInst& call, llvm::Function& to, llvm::ArrayRef<llvm::Value*> further) {
  llvm::SmallVector<llvm::Value*> arguments(call.args());
  arguments.append(further.begin(), further.end());
  llvm::CallInst* made = llvm::CallInst::Create(&to, arguments, "", call.getIterator());
  if (llvm::isa<llvm::FPMathOperator>(call)) made->copyFastMathFlags(&call);
  made->takeName(&call);
  call.replaceAllUsesWith(made);
  return made;
}

}  // namespace smelt::aot::cpu
