// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conditions on a vector's components, as conditions on scalars.
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace smelt::aot::cpu {

/// `any(position == 0)` compares whole vectors and then takes the components. This pass compares the components
/// instead, if nothing else of the vector is used: LLVM's loop vectoriser gives up on vectors in a loop, and the shapes
/// of lanes (lanes/shapes.hpp) describe only scalars.
void compare_components(llvm::Function& function);

}  // namespace smelt::aot::cpu
