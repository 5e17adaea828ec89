// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/analyses.hpp"

#include "llvm/IR/Function.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

namespace smelt::aot {
namespace {

template <typename Pass>
void run_pass(llvm::Module& module, Pass pass) {
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  llvm::ModulePassManager passes;
  passes.addPass(std::move(pass));
  passes.run(module, analyses.module);
}

}  // namespace

void run_passes(llvm::Function& function, llvm::StringRef pipeline, llvm::TargetMachine* target) {
  llvm::PassBuilder builder(target);
  Analyses analyses(builder);
  llvm::FunctionPassManager passes;
  if (auto error = builder.parsePassPipeline(passes, pipeline))
    llvm::report_fatal_error("pass pipeline '" + pipeline + "': " + llvm::toString(std::move(error)), false);
  passes.run(function, analyses.function);
}

void always_inline(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::NoInline);
  function.removeFnAttr(llvm::Attribute::OptimizeNone);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
}

void inline_marked(llvm::Module& module) {
  run_pass(module, llvm::AlwaysInlinerPass(false));
}

void drop_unused(llvm::Module& module) {
  run_pass(module, llvm::GlobalDCEPass());
}

}  // namespace smelt::aot
