// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/default_functions.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Module.h"

#include <string>

namespace smelt::aot::msl {

void choose_default_functions(llvm::Module& module, bool fast) {
  constexpr llvm::StringLiteral kDefault("air.default_");
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    llvm::StringRef operation = function.getName();
    if (!operation.consume_front(kDefault)) continue;
    const std::string chosen = (fast ? "air.fast_" : "air.") + operation.str();
    llvm::Function* const known = module.getFunction(chosen);
    if (known == nullptr) {
      function.setName(chosen);
      continue;
    }
    function.replaceAllUsesWith(known);
    function.eraseFromParent();
  }
}

}  // namespace smelt::aot::msl
