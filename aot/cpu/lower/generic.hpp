// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What plain LLVM IR needs before a CPU may run it: no library calls, no traps. Internal to lower/.
#pragma once

#include "smelt/base/result.hpp"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
}

namespace smelt::aot::cpu {

/// Generic intrinsics that code generators turn into libm calls (llvm.exp, llvm.pow, ...), frem, memory intrinsics of
/// unknown or large size, and integer division by what may be zero.
Result<void> lower_generic(llvm::Function& function, bool expand_memory);

/// Whether lower_generic has something to say about an intrinsic of this name.
bool is_lowered_intrinsic(llvm::StringRef name);

/// Fast-math flags that promise the absence of NaN and infinity go (kernels mask with -infinity and test for NaN all
/// the same); attributes of whole functions about floats go in favour of flags; denormals may be flushed or kept.
void relax_float_assumptions(llvm::Function& function);

}  // namespace smelt::aot::cpu
