// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry metadata to KernelInfo.
#pragma once

#include "smelt/aot/kernel_info.hpp"
#include "smelt/aot/stage_info.hpp"

#include <string_view>
#include <vector>

namespace llvm {
class Module;
}

namespace smelt::aot::air {

/// Every entry point of the module, in the order of its !air.<stage> lists. Malformed metadata is `compile_failed`,
/// with the function and the argument.
Result<std::vector<KernelInfo>> reflect(const llvm::Module& module);

/// Static threadgroup memory of the module: what its entry point needs, as each has a module of its own.
uint64_t threadgroup_bytes(const llvm::Module& module);

/// The same entry points as stages.
std::vector<StageInfo> stages_of(const llvm::Module& module);

/// The one of that name.
Result<KernelInfo> reflect(const llvm::Module& module, std::string_view function);

}  // namespace smelt::aot::air
