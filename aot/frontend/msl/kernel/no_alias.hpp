// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Metal promises about a kernel's buffers: no two overlap, and `constant` memory does not change while the kernel
// runs. Said in the form of Apple's compiler (docs/formats/air.md 1.8).
#pragma once

#include "llvm/IR/PassManager.h"

namespace smelt::aot::msl {

/// Parameters that are buffers get "air-buffer-no-alias". Loads and stores whose pointer comes from one get
/// !alias.scope and !noalias, with a scope for each of them that is used. Loads of `constant` memory get
/// !invariant.load, for LLVM's passes alone: the legaliser drops it. Works on every function marked as a kernel; spaces
/// of pointers must be known by then.
class NoAliasPass : public llvm::PassInfoMixin<NoAliasPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};

}  // namespace smelt::aot::msl
