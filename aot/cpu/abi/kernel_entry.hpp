// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a finished AIR module says about its entry point, read from its metadata (docs/formats/air.md 1.4 to 1.7).
#pragma once

#include "smelt/base/entry_interface.hpp"
#include "smelt/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class Function;
class GlobalVariable;
class Module;
}  // namespace llvm

namespace smelt::aot::cpu {

/// One [[function_constant(index)]]: the host writes its value over `initialiser` before the kernel is built.
struct FunctionConstant {
  uint32_t index = 0;
  llvm::GlobalVariable* initialiser = nullptr;
};

struct KernelEntry {
  llvm::Function* function = nullptr;
  std::string name;
  EntryInterface interface;                   ///< of a kernel; its bindings are of classes that are run
  std::vector<FunctionConstant> constants;    ///< by index
  std::vector<llvm::Function*> initialisers;  ///< llvm.global_ctors: compute constants derived from function constants
  bool fast_math = false;                     ///< air.compile.fast_math_enable
};

/// Of a vertex or fragment function, the kernel that stage_kernel.hpp makes of it. Refuses what the CPU cannot do
/// (classes that binding_classes.def says are refused, more than one entry point), with the reason.
Result<KernelEntry> read_kernel_entry(llvm::Module& module);

}  // namespace smelt::aot::cpu
