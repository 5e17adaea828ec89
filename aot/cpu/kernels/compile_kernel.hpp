// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One AIR module to one kernel's code: the pipeline's table of contents.
#pragma once

#include "smelt/aot/cpu.hpp"
#include "smelt/schema/cpu_slice.hpp"

namespace smelt::aot::cpu {

/// Processor seconds of the calling thread, for bench_cpu_compile.
struct PhaseSeconds {
  double work_item = 0;  ///< parsed, admitted, a function of one thread
  double loops = 0;      ///< lanes or regions, and the loops around
  double optimise = 0;   ///< LLVM's middle end
  double generate = 0;   ///< LLVM's back end, checks and the link
};

struct CompiledKernel {
  schema::CpuKernel row;
  Bytes code;
  PhaseSeconds seconds;
  std::string assembly;  ///< of list_kernel: text of LLVM's code generator with a `.loc` for each line of the listing
};

/// With CpuMethod::automatic, a kernel that the lane vectoriser refuses is compiled by regions; the row's method says
/// why. LLVM's fatal errors are errors here.
Result<CompiledKernel> compile_kernel(const AirModuleView& module, const CpuOptions& options);

/// The same, with the assembly, whose lines are those of list_module() of the parsed module.
Result<CompiledKernel> list_kernel(const AirModuleView& module, const CpuOptions& options);

}  // namespace smelt::aot::cpu
