// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a module's kernels, calls and address spaces mean, said in kernel IR (kernel_module.hpp). One file a dialect;
// reader.cpp picks by triple and content.
#pragma once

#include "smelt/base/result.hpp"

#include "ir/reader.hpp"
#include "kernel_ir/kernel_module.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::input {

/// Where a module came from, for messages.
struct Origin {
  std::string_view name;
  std::string_view text;  ///< the original text; empty for bitcode
  /// "line 12: " of the first mention of a global name, or nothing.
  std::string line_of(std::string_view global) const;
};

/// AIR already: complete entry metadata stays as it is; without it, entries are marked as in GPU-style IR.
bool is_air(const llvm::Module& module);
Result<void> read_air(KernelModule& input, const Origin& origin, const InputOptions& options);

/// llvm.amdgcn.*, as Triton's AMD back end writes it.
bool is_amdgcn(const llvm::Module& module);
Result<void> read_amdgcn(KernelModule& input, const Origin& origin, const InputOptions& options);

/// Everything else: kernels marked by calling convention, attribute, annotation or name; OpenCL and NVVM builtins.
Result<void> read_gpu(KernelModule& input, const Origin& origin, const InputOptions& options);

// Shared by the dialects.

/// Marks the kernels ("smelt.kernel"): those named in the options, of a kernel calling convention, or with an
/// annotation of OpenCL or NVVM; without any, the only externally visible definition that nothing in the module
/// uses, if it returns nothing. Then makes every calling convention C. An error when there is none.
Result<void> mark_kernels(llvm::Module& module, const Origin& origin, const InputOptions& options);

/// Rewrites every pointer's address space. Spaces not in the map stay. Casts between spaces that become one go.
Result<void> remap_address_spaces(KernelModule& input, const std::map<unsigned, unsigned>& spaces);

/// Calls of OpenCL C and NVVM builtins become kernel IR: hardware values, barriers, mathematics, atomics.
void lower_opencl(llvm::Module& module);
void lower_nvvm(llvm::Module& module);
/// Calls of air.* that AIR has not but other makers write: hardware values (unless the entries are complete), barriers.
void lower_air_calls(llvm::Module& module, bool has_entries);

}  // namespace smelt::aot::input
