// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a finished AIR module to the function of one thread (work_item.hpp).
#pragma once

#include "smelt/schema/cpu_slice.hpp"

#include "abi/kernel_entry.hpp"
#include "codegen/target.hpp"
#include "work_item/work_item.hpp"

namespace smelt::aot::cpu {

struct PreparedKernel {
  WorkItem item;
  uint32_t threadgroup_bytes = 0;   ///< static threadgroup memory
  uint32_t threadgroup_extent = 0;  ///< of it and of the room round it
  uint32_t constants_bytes = 0;
  std::vector<schema::CpuConstant> constants;
};

struct PrepareOptions {
  CpuLevel level = CpuLevel::x86_64_v3;
  Checks checked;
  bool keep_lane_functions = false;  ///< functions of lane_functions.hpp stay calls, which lanes alone understand
  bool wide_products = false;        ///< of wide_products.hpp
  bool keep_lines = false;           ///< the module's debug info is that of a listing, and stays
};

/// Lowers, inlines and simplifies the module's kernel; every other function of the module is gone afterwards.
Result<PreparedKernel> make_work_item(llvm::Module& module, const KernelEntry& info, llvm::TargetMachine& target,
                                      const PrepareOptions& options);

/// Sets grid_only, has_barriers and has_collectives from what the function does now; numbers its threadgroup barriers
/// in reverse post-order (metadata !smelt.site).
void describe_sites(WorkItem& item);

inline constexpr char kSiteMetadata[] = "smelt.site";

/// void (dispatch, subsystem, category, type, format, arguments, size): what air.os_log becomes.
inline constexpr char kLogHelper[] = "smelt.log";

}  // namespace smelt::aot::cpu
