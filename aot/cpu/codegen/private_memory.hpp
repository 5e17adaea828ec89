// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private arrays of a kernel, and the stack that its code needs. A gang keeps the arrays of 32 threads, so what is
// small for one thread is large for a stack: large arrays live in the call's scratch memory, which the loader
// allocates, and what is left on the stack is bounded.
#pragma once

#include "smelt/base/bytes.hpp"

#include <cstdint>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Bytes of arrays that may stay on the stack.
inline constexpr uint64_t kArraysOnStack = uint64_t{64} << 10;
/// Private memory that a thread may have, and that a call may have for the 32 threads that run together.
inline constexpr uint64_t kArraysOfThread = uint64_t{2} << 20;
inline constexpr uint64_t kArraysInScratch = 32 * kArraysOfThread;
/// Stack that a kernel may use: an eighth of what a thread has by default. What large
/// kernels spill is on it; ggml's flash attention takes 146 KiB.
inline constexpr uint64_t kStackBytes = uint64_t{1} << 20;

/// Of `function` itself, without what it calls.
uint64_t bytes_of_arrays(llvm::Function& function);

/// Before the optimiser: functions with large arrays are to become part of the entry point, which has the scratch
/// memory.
void inline_array_holders(llvm::Module& module, const llvm::Function& entry);

/// After it: moves the largest arrays of `entry` behind the `fixed_bytes` and the frames of `bytes_per_thread` that it
/// uses of scratch already. Gives the new count of fixed bytes, the same when all arrays are small. An error
/// (unsupported) above kArraysInScratch, or when a function with large arrays could not be inlined.
Result<uint32_t> move_large_arrays(llvm::Module& module, llvm::Function& entry, uint32_t fixed_bytes,
                                   uint32_t bytes_per_thread);

/// Of the longest chain of calls from `entry`, whose module `object` was made from; what a function needs says the
/// object's section .stack_sizes. An error (unsupported) above kStackBytes.
Result<void> check_stack(const llvm::Function& entry, ByteView object);

}  // namespace smelt::aot::cpu
