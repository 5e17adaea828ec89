// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conditions on a vector's components, as conditions on scalars.
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace smelt::aot::cpu {

/// `any(position == 0)` compares whole vectors and then takes the components. Where all that is used of a comparison is
/// its components, the components are compared instead: LLVM's loop vectoriser gives up on vectors in a loop, and the
/// shapes of lanes (lanes/shapes.hpp) say what a scalar is in each lane, but nothing of a vector.
void compare_components(llvm::Function& function);

}  // namespace smelt::aot::cpu
