// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products that a kernel has one after another: each waits for its own last product, and reads all operands
// alone.
#pragma once

namespace llvm {
class BasicBlock;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Lets chains of multiply-adds that follow each other go on in turns, where nothing between them needs a sum. Each
/// chain keeps its order, so sums keep their bits.
void interleave_chains(llvm::BasicBlock& block);

}  // namespace smelt::aot::cpu
