// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers must be `convergent`, or an optimiser may sink or duplicate them (silent desynchronisation), and the scope
// operand of the SIMD-group barrier follows the AIR version (docs/formats/air.md 3.7). Whoever made the declaration, it
// gets the table's attributes; so do all other operations that talk between lanes.
#include "interface/limits.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::air {

Result<void> barriers(PassContext& context) {
  for (llvm::Function& function : context.module) {
    if (!function.isDeclaration() || !function.getName().starts_with("air.")) continue;
    const auto signature = lookup(function.getName(), context.target.air);
    if (!signature || signature->family_only || !agrees(*signature, function.getFunctionType())) continue;
    const bool is_simdgroup_barrier = function.getName() == "air.simdgroup.barrier";
    if (!context.finished) annotate(function, *signature);
    for (llvm::User* user : function.users()) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      if (!call || call->getCalledFunction() != &function) continue;
      if (function.isConvergent()) call->setConvergent();
      if (!is_simdgroup_barrier || context.finished) continue;
      const unsigned last = call->arg_size() - 1;
      if (context.target.air < kFirstMemoryFlags)  // later ones say the scope that the kernel asked for
        call->setArgOperand(last, llvm::ConstantInt::getSigned(call->getArgOperand(last)->getType(),
                                                               simdgroup_barrier_scope(context.target.air)));
    }
  }
  return {};
}

}  // namespace smelt::aot::air
