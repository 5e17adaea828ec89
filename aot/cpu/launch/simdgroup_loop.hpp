// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch loop of threads that do not run in step: see simdgroup_loop.cpp.
#pragma once

#include "launch/launch.hpp"

namespace smelt::aot::cpu {

/// `item` may have sites of every kind; matrices are narrowed.
Result<LaunchedKernel> emit_simdgroup_loop(const LaunchContext& context, const WorkItem& item);

}  // namespace smelt::aot::cpu
