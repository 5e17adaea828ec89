// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a finished AIR module says about its entry point, read from its metadata (docs/formats/air.md 1.4 to 1.7).
#pragma once

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

struct KernelArgument {
  enum class Kind : uint8_t { buffer, threadgroup, builtin };
  Kind kind = Kind::buffer;
  uint32_t location = 0;  ///< [[buffer(i)]] or [[threadgroup(i)]]
  std::string builtin;    ///< attribute name without "air.", e.g. "thread_position_in_grid"
};

/// One [[function_constant(index)]]: the host writes its value over `initialiser` before the kernel is built.
struct FunctionConstant {
  uint32_t index = 0;
  llvm::GlobalVariable* initialiser = nullptr;
};

struct KernelEntry {
  llvm::Function* function = nullptr;
  std::string name;
  std::vector<KernelArgument> arguments;      ///< one for each parameter of `function`
  std::vector<FunctionConstant> constants;    ///< by index
  std::vector<llvm::Function*> initialisers;  ///< llvm.global_ctors: compute constants derived from function constants
  bool fast_math = false;                     ///< air.compile.fast_math_enable
};

/// Refuses what the CPU cannot do (textures, samplers, function tables, more than one entry point), with the reason.
Result<KernelEntry> read_kernel_entry(llvm::Module& module);

}  // namespace smelt::aot::cpu
