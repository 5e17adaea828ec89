// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/cpu.hpp"
#include "smelt/schema/cpu_slice.hpp"

#include "kernels/compile_kernel.hpp"
#include "llvm_support/tasks.hpp"
#include "llvm_support/watch.hpp"

#include <algorithm>
#include <optional>

namespace smelt::aot {
namespace {

/// Each module on its own, `threads` at a time; results keep the modules' order.
std::vector<Result<cpu::CompiledKernel>> compile_all(std::span<const AirModuleView> modules,
                                                     const CpuOptions& options) {
  std::vector<std::optional<Result<cpu::CompiledKernel>>> slots(modules.size());
  const auto done = run_tasks(modules.size(), std::max(options.threads, 1u), [&](size_t i) -> Result<void> {
    slots[i] = cpu::compile_kernel(modules[i], options);
    return {};
  });
  std::vector<Result<cpu::CompiledKernel>> results;
  for (auto& slot : slots)
    results.push_back(slot ? std::move(*slot) : tl::unexpected(done.error()));  // ended, or no memory was left
  return results;
}

}  // namespace

Result<CpuCompiled> compile_cpu(std::span<const AirModuleView> modules, const CpuOptions& options) {
  schema::CpuSlice slice;
  slice.arch = row_of(options.level).arch;
  slice.level = row_of(options.level).number;
  CpuCompiled result;
  std::vector<Bytes> code;
  auto kernels = compile_all(modules, options);
  for (size_t i = 0; i < modules.size(); ++i) {
    Result<cpu::CompiledKernel>& kernel = kernels[i];
    // What was ended is not something that the kernel cannot do: nothing of it may be kept.
    if (!kernel && was_ended(kernel.error())) return tl::unexpected(std::move(kernel).error().in(modules[i].name));
    if (!kernel) {
      result.missing.push_back({std::string(modules[i].name), kernel.error().message});
      continue;
    }
    result.kernels.emplace_back(modules[i].name);
    slice.kernels.push_back(std::move(kernel->row));
    code.push_back(std::move(kernel->code));
  }
  SMELT_TRY(result.slice, schema::write_cpu_slice(std::move(slice), code));
  return result;
}

}  // namespace smelt::aot
