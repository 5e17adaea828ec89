// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where LLVM IR says that behaviour is undefined, an optimiser may assume that it does not happen, and take away the
// very check that would have caught it: "if (i >= 10) unreachable; array[i] = x" has no check of i left. So before
// accesses are checked, everything that a kernel could state or make undefined gets a meaning.
#pragma once

#include "smelt/base/result.hpp"

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu {

/// What decides where the function goes and which memory it touches is the same value for everybody who looks; its
/// promises (assumptions, ranges, alignments, unreachable ends, loops that end) are gone. Loads from the dispatch block
/// at `dispatch` are ours and stay. An error for memory whose bits have no bytes (arrays of single bits).
Result<void> define_behaviour(llvm::Function& function, const llvm::Value* dispatch);

/// On what is frozen since it was loaded from memory of the thread's own.
inline constexpr char kPrivateLoadMetadata[] = "smelt.private_load";

/// Whether it is a load of our own from the dispatch block, or from memory that one leads to.
bool reads_dispatch(const llvm::Value* value, const llvm::Value* dispatch);

}  // namespace smelt::aot::cpu
