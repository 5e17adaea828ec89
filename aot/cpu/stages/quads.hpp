// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What fragments of a quad learn from each other: derivatives, and the level of a sample that names none.
#pragma once

#include "smelt/base/result.hpp"

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Makes exchanges in quads of all derivatives in a function, and samples with gradients of those whose level follows
/// from derivatives. `thread` is an i32 that dominates all: its two low bits are the place in the quad.
Result<void> lower_quads(llvm::Function& function, llvm::Value& thread);

}  // namespace smelt::aot::cpu
