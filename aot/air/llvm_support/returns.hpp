// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What to do where LLVM IR says that nobody comes: return. A GPU would hang there, and a processor would trap or run
// on.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace smelt::aot {

/// Returns at the builder's place: nothing, or zero.
void create_null_return(llvm::IRBuilder<>& builder);

/// A return in place of a terminator whose block has no successors.
void return_instead(llvm::Instruction& terminator);

}  // namespace smelt::aot
