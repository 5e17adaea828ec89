// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/returns.hpp"

namespace smelt::aot {

void create_null_return(llvm::IRBuilder<>& builder) {
  llvm::Type* type = builder.getCurrentFunctionReturnType();
  if (type->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(llvm::Constant::getNullValue(type));
}

void return_instead(llvm::Instruction& terminator) {
  llvm::IRBuilder<> builder(&terminator);
  create_null_return(builder);
  terminator.eraseFromParent();
}

}  // namespace smelt::aot
