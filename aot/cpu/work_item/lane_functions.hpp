// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions in which lanes exchange values again and again, as products of matrices written with shuffles do. Inlined
// at every call they are most of a kernel; lanes compile such a function once, for all threads of a simdgroup at a time
// (lanes/functions.hpp).
#pragma once

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Marks the functions that are to stay calls: of one block, without access to memory, called several times, in which
/// values of numbers come in, are moved between lanes, and go out. Everything that they call is inlined into them.
void keep_lane_functions(llvm::Module& module, llvm::TargetMachine& target);

/// A function that keep_lane_functions() marked.
bool is_lane_function(const llvm::Function& function);

}  // namespace smelt::aot::cpu
