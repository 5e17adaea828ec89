// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace llvm {
class Function;
}

namespace smelt::aot::cpu {

/// Where a simdgroup matrix is seen as a vector of other elements (thread_elements() copied as eight bytes becomes
/// `bitcast <64 x float> to <32 x i64>`), what is read and written of it is read and written of the matrix itself. What
/// has no such form stays.
void undo_matrix_views(llvm::Function& function);

}  // namespace smelt::aot::cpu
