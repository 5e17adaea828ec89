// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checked mode: every access to a buffer, to threadgroup memory or to a constant table is bounded; one that leaves its
// object is reported once per launch (smelt_cpu_fault), reads zero or is dropped.
#pragma once

#include "cpu/work_item.hpp"

#include <vector>

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu {

/// One static threadgroup variable: its place in threadgroup memory.
struct ThreadgroupObject {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// Guards the accesses of a scalar work item. Pointers that were themselves loaded from memory (argument buffers) have
/// no known bounds and stay as they are.
void check_accesses(const WorkItem& item, const std::vector<ThreadgroupObject>& threadgroup_objects);

/// Guards the accesses of a function that a work item calls, whose parameters are values, private memory and the
/// dispatch block (`dispatch`): those to constant tables.
void check_accesses(llvm::Function& helper, llvm::Value& dispatch);

}  // namespace smelt::aot::cpu
