// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Long code, cut into functions of a size that LLVM's code generator is fast at.
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Right before code is generated, after all optimisation: pieces of a long function and of long bodies of its loops
/// become functions of their own, called one after the other. Selecting instructions, sinking them and above all the
/// allocation of registers take time by the square of the length. What pieces hand each other goes through memory; of
/// so many values few would have kept a register anyway.
void outline_long_code(llvm::Function& function);

}  // namespace smelt::aot::cpu
