// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/memory_function.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::cpu {

llvm::Function* make_memory_function(llvm::Module& module, const std::string& name,
                                     llvm::ArrayRef<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), parameters, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::NoInline);
  for (llvm::Argument& argument : function->args()) {
    if (!argument.getType()->isPointerTy()) continue;
    argument.addAttr(llvm::Attribute::NoAlias);
    argument.addAttr(llvm::Attribute::NoCapture);
  }
  return function;
}

}  // namespace smelt::aot::cpu
