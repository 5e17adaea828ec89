// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace llvm {
class AllocaInst;
class Function;
}  // namespace llvm

namespace smelt::aot::cpu::lanes {

/// Says that this memory holds one matrix: it is written where the matrix is made, and before it is read.
void mark_matrix_memory(llvm::AllocaInst& memory);

/// Matrices take turns in the memory of a function that has much of it.
void share_matrix_memory(llvm::Function& function);

}  // namespace smelt::aot::cpu::lanes
