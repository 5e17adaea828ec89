// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simdgroup matrices, one thread at a time: every `<64 x T>` becomes the two elements that the thread itself holds.
#pragma once

#include "smelt/base/result.hpp"

namespace llvm {
class Function;
}

namespace smelt::aot::cpu {

/// Rewrites values of type `<64 x T>` to `<2 x T>` (positions 0 and 1; the others have no meaning, see
/// lower/collectives.hpp). Collective calls keep their names and get narrow declarations. In memory a matrix keeps its
/// place and size, of which only the start is used.
Result<void> narrow_matrices(llvm::Function& function);

}  // namespace smelt::aot::cpu
