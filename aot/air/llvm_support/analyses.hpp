// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's pass manager: its analysis managers wired together, and pipelines given as text.
#pragma once

#include "llvm_support/watch.hpp"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Passes/PassBuilder.h"

namespace smelt::aot {

/// Must outlive the passes that run on it. `library` (null: what the target has) says which library functions exist.
struct Analyses {
  explicit Analyses(llvm::PassBuilder& builder, const llvm::TargetLibraryInfoImpl* library = nullptr) {
    // Before the builder registers its own, and not through its constructor: that writes into the callbacks, which all
    // threads share.
    const auto watched = [] { return llvm::PassInstrumentationAnalysis(pass_callbacks()); };
    module.registerPass(watched);
    graph.registerPass(watched);
    function.registerPass(watched);
    loop.registerPass(watched);
    if (library != nullptr) function.registerPass([library] { return llvm::TargetLibraryAnalysis(*library); });
    builder.registerModuleAnalyses(module);
    builder.registerCGSCCAnalyses(graph);
    builder.registerFunctionAnalyses(function);
    builder.registerLoopAnalyses(loop);
    builder.crossRegisterProxies(loop, function, graph, module);
  }
  llvm::LoopAnalysisManager loop;
  llvm::FunctionAnalysisManager function;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager module;
};

/// Runs a textual pass pipeline on one function; `target` may be null. Pipelines are literals of ours: one that LLVM
/// does not know is a fatal error.
void run_passes(llvm::Function& function, llvm::StringRef pipeline, llvm::TargetMachine* target = nullptr);

/// To be inlined wherever it is called, whatever its source said of that.
void always_inline(llvm::Function& function);
/// Inlines the functions that are marked so; they stay behind.
void inline_marked(llvm::Module& module);
/// Removes internal functions and variables that nothing reaches.
void drop_unused(llvm::Module& module);

}  // namespace smelt::aot
