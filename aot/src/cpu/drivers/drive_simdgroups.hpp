// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver for threads that do not run in step: see drive_simdgroups.cpp.
#pragma once

#include "cpu/drivers/drivers.hpp"

namespace smelt::aot::cpu {

/// `item` may have sites of every kind; matrices are narrowed.
Result<DrivenKernel> drive_simdgroups(const DriverContext& context, const WorkItem& item);

}  // namespace smelt::aot::cpu
