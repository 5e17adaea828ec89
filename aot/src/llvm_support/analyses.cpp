// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/analyses.hpp"

#include "llvm/IR/Function.h"
#include "llvm/Support/ErrorHandling.h"

namespace smelt::aot {

void run_passes(llvm::Function& function, llvm::StringRef pipeline, llvm::TargetMachine* target) {
  llvm::PassBuilder builder(target);
  Analyses analyses(builder);
  llvm::FunctionPassManager passes;
  if (auto error = builder.parsePassPipeline(passes, pipeline))
    llvm::report_fatal_error("pass pipeline '" + pipeline + "': " + llvm::toString(std::move(error)), false);
  passes.run(function, analyses.function);
}

}  // namespace smelt::aot
