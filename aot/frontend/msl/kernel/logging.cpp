// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/logging.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace smelt::aot::msl {

void drop_logging(llvm::Module& module) {
  llvm::Function* log = module.getFunction("air.os_log");
  if (log == nullptr) return;
  for (llvm::User* user : llvm::make_early_inc_range(log->users()))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) call->eraseFromParent();
  if (log->use_empty()) log->eraseFromParent();
}

}  // namespace smelt::aot::msl
