// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every launch of a kernel is sure to touch: memory that each thread reads or writes at its own position along x,
// whatever it computes. Then a buffer that is too short for the grid is known before the first thread runs, which costs
// a comparison a call, and not one an access as in checked code.
#pragma once

#include "work_item/work_item.hpp"

#include <span>

namespace smelt::aot::cpu {

/// The thread at x touches `bytes` bytes of the buffer at `offset` + `stride` * x.
struct SureReach {
  uint32_t buffer = 0;  ///< [[buffer(i)]]
  uint64_t stride = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  bool is_write = false;
};

/// One a buffer: what reaches furthest. `item` is of one thread. Accesses under a condition are left out, and so is all
/// that is addressed in any other way: nothing is said of a launch that might be right.
std::vector<SureReach> find_sure_reach(const WorkItem& item);

/// Puts the comparisons in front of everything else that the entry point does; it has the dispatch block as its first
/// parameter. Where a buffer is too short, but not empty, it reports the first thread that would leave it
/// (smelt_cpu_fault) and returns, so that nothing has been written.
void refuse_short_buffers(llvm::Function& entry, std::span<const SureReach> reaches);

}  // namespace smelt::aot::cpu
