// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel computes between texels of bytes. The runtime divides each byte that it reads by 255 and multiplies
// what it writes by 255 (runtime/texture_near.c). Where the kernel's own arithmetic may be joined with that, as Metal's
// fast math allows, both can go: 1 - x becomes 255 - byte. The forms that are looked for are those of the runtime.
#pragma once

#include "llvm/IR/PassManager.h"

namespace smelt::aot::cpu {

/// A quotient by 255 goes where all that is done with it may be reassociated; what is written loses the clamps and the
/// rounding that its range makes needless. Runs after inlining and `sroa`, as often as LLVM combines instructions.
struct UnormArithmetic : llvm::PassInfoMixin<UnormArithmetic> {
  static llvm::StringRef name() { return "unorm-arithmetic"; }
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace smelt::aot::cpu
