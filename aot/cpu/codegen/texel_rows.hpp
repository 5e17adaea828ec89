// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where lanes look at texels. The runtime asks of each read and write whether its lanes look at a row
// (runtime/texture_near.c, row_of()). What they look at is mostly made of numbers that grow by one, cut off at the
// edges of a picture, and of a number that all share: both are computed as single numbers then, and the answer is two
// of them.
#pragma once

#include "llvm/IR/PassManager.h"

namespace smelt::aot::cpu {

/// Runs after inlining and `sroa`, as often as LLVM combines instructions, and before UnormArithmetic.
struct TexelRows : llvm::PassInfoMixin<TexelRows> {
  static llvm::StringRef name() { return "texel-rows"; }
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace smelt::aot::cpu
