// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is done to a whole module around the making of a work item.
#pragma once

#include "smelt/base/result.hpp"

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Takes the module from AIR's data layout to the processor's (an error if a type would change its shape), drops debug
/// information unless `keep_lines`, type-based alias information and attributes that speak of a GPU. What LLVM 14 gives
/// a meaning and this LLVM does not, gets it.
Result<void> adopt_target(llvm::Module& module, const llvm::TargetMachine& target, bool keep_lines);

/// Removes all functions but `kept` and those it calls, and all globals that nobody uses any more.
void remove_all_but(llvm::Module& module, llvm::Function& kept);

}  // namespace smelt::aot::cpu
