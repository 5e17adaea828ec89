// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hardware values at program scope (Metal 3.1), which every function of a kernel may read:
//
//   const uint i [[thread_position_in_grid]];
//
// The token filter declares them as constants with a name that says what they are (kernel_ir::kHardwareVariable). AIR
// has no such variable: the entry gets the value as a parameter.
#pragma once

#include "smelt/base/result.hpp"

#include "msl/facts/kernel_facts.hpp"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::msl {

/// Gives `kernel` a parameter for each value that the module reads and the source's own do not have, of the variable's
/// type. Errors: compile_failed for a stage that has no such values, and for a parameter with fewer components.
Result<void> add_hardware_values(const llvm::Module& module, KernelFact& kernel);

/// When everything is inlined: `entry` has each value as a variable of the thread.
Result<void> read_hardware_values(llvm::Module& module, llvm::Function& entry);

/// Whether `function` reads one, itself or by what it calls.
bool reads_hardware_values(const llvm::Function& function);

}  // namespace smelt::aot::msl
