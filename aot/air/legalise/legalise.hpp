// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel IR in, AIR for one target out (docs/formats/air.md 5.3): one module per entry point, which bitcode/writer.hpp
// can write and Apple's runtime of that target can read. The list of passes is in legalise.cpp and reads from top to
// bottom.
#pragma once

#include "smelt/aot/math_mode.hpp"
#include "smelt/aot/target.hpp"
#include "smelt/base/result.hpp"

#include "kernel_ir/kernel_module.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot::air {

struct LegaliseOptions {
  /// MathMode::fast is stamped; fast functions choose the air.fast_* form of math operations.
  MathOptions math;
  /// Bytes of the unsized threadgroup array (`external addrspace(3) global [0 x i8]`) of GPU-style IR; a kernel's own
  /// "smelt.threadgroup_memory" attribute counts when this is empty.
  std::optional<uint64_t> threadgroup_memory;
  /// air.max_work_group_size; a kernel's own "smelt.max_threads_per_threadgroup" attribute counts when this is empty.
  std::optional<uint32_t> threads_per_threadgroup;
  /// Metal language version to stamp; the target's when empty. A lower one than the target's is legal.
  std::optional<Version> language;
  // Flags of a compile: what each means is there. A module that uses what `cpu_only` allows is marked
  // (kernel_ir/cpu_only.hpp).
#define SMELT_FLAG(member, ...) bool member = false;
#include "smelt/aot/options.def"
  /// Functions that are not defined may be called: another object has them.
  bool allow_undefined = false;
  /// Run LLVM's verifier after every pass; a failure names the pass. Tests and debug builds.
  bool verify_each = false;
  /// Stop after the pass of this name (all modules). Empty: run all.
  std::string stop_after;
  /// Called after each pass, e.g. to print the module. `function` is the entry point.
  std::function<void(std::string_view pass, std::string_view function, const llvm::Module&)> after_pass;
};

/// One entry point and what it needs. Modules of one input share a context: work on them from one thread.
struct AirModule {
  std::string function;  ///< the entry point's name
  std::string stage;     ///< "kernel", "vertex", "fragment", "visible", ...: the tail of its !air.<stage> list
  std::shared_ptr<llvm::LLVMContext> context;  // before the module: must outlive it
  std::unique_ptr<llvm::Module> module;
  std::vector<std::string> warnings;  ///< one line each
};

/// Entry points in the order of their metadata lists, then of the module. Errors: `compile_failed` for what AIR cannot
/// say (naming function and instruction), `unsupported` for what this target lacks (naming targets that have it).
Result<std::vector<AirModule>> legalise(KernelModule input, const Target& target, const LegaliseOptions& options = {});

/// Names of the passes, in order.
std::vector<std::string_view> pass_names();

}  // namespace smelt::aot::air
