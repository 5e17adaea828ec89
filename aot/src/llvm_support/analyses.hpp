// The analysis managers of LLVM's pass manager, wired together.
#pragma once

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Passes/PassBuilder.h"

namespace smelt::aot {

/// Must outlive the passes that run on it. `library` (null: what the target has) says which library functions exist.
struct Analyses {
  explicit Analyses(llvm::PassBuilder& builder, const llvm::TargetLibraryInfoImpl* library = nullptr) {
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

}  // namespace smelt::aot
