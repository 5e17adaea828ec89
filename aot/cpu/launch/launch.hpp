// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launch loops: the code around a work item or its regions that runs all units of a range. Each makes the kernel's
// entry point, `void smelt_entry(const smelt_cpu_dispatch*, const smelt_cpu_range*, void* scratch)`.
#pragma once

#include "smelt/base/checks.hpp"

#include "regions/regions.hpp"
#include "work_item/make_work_item.hpp"

#include <string>

namespace llvm {
class TargetMachine;
}  // namespace llvm

namespace smelt::aot::cpu {

inline constexpr char kEntryName[] = "smelt_entry";

/// What a launch loop says about its kernel; becomes part of the kernel's row.
struct LaunchedKernel {
  schema::CpuRangeKind range = schema::CpuRangeKind::threads;
  uint32_t fixed_bytes = 0;
  uint32_t bytes_per_thread = 0;
  std::string method;
};

struct LaunchContext {
  llvm::Module& module;
  llvm::TargetMachine& target;
  CpuLevel level;
  uint32_t threadgroup_bytes;
  Checks checked;
};

/// No barrier, nothing shared: one loop over a box of threads of the grid, the kernel inlined (method "loop").
Result<LaunchedKernel> emit_grid_loop(const LaunchContext& context, const WorkItem& item);

/// Thread by thread, cut into regions (method "regions"; "loop" when there is nothing to cut).
Result<LaunchedKernel> emit_thread_loop(const LaunchContext& context, const WorkItem& item);

/// Gang by gang (method "lanes"). `in_step`: gangs of a threadgroup never disagree about the barrier they reach.
Result<LaunchedKernel> emit_gang_loop(const LaunchContext& context, std::vector<GangVariant> variants, bool in_step);

}  // namespace smelt::aot::cpu
