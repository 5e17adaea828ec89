// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels: nested ifs, loops with break and continue, switches with fall-through, early returns, jumps into the
// middle of loops, private arrays, divisions, integers of 8 to 64 bits and floats. They always end, and threads write
// only to places of their own.
#pragma once

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <memory>

namespace smelt::test {

/// Reads buffer0 (kernel_words() 32-bit words), writes buffer1 (two 64-bit words per thread), and reads two 32-bit
/// words of buffer2: the number of words in buffer0 and one that decides about uniform branches.
/// `flat`: only the position in the grid is used; else also x, y of the threadgroup.
std::unique_ptr<llvm::Module> random_kernel(llvm::LLVMContext& context, uint32_t seed, bool flat);

}  // namespace smelt::test
