// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checked mode: every access of a kernel is bounded by the object that its pointer was made from: a bound buffer,
// threadgroup memory, a private array, a constant table. A pointer that comes out of memory or of an integer must lie
// in one of them, unless it comes out of an array of the thread's own. An access that leaves its object is reported
// once per launch (smelt_cpu_fault), reads zero or is dropped.
#pragma once

#include "smelt/base/result.hpp"

#include "work_item/work_item.hpp"

#include <string>
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
  std::string name;
};

/// The text of smelt_cpu_fault::variables: a line for each variable.
std::string describe(const std::vector<ThreadgroupObject>& objects);

/// Reports accesses at constant places outside of a thread's own arrays. LLVM removes such accesses as code that nobody
/// reaches, so this runs before any of its passes. `item`: null for a function that a work item calls.
void report_outside_arrays(llvm::Function& function, llvm::Value& dispatch, const WorkItem* item);

/// Guards the accesses of a scalar work item. An error for an operation on memory whose bounds are not known here.
Result<void> check_accesses(const WorkItem& item, const std::vector<ThreadgroupObject>& threadgroup_objects);

/// Guards the accesses of a function that a work item calls, whose parameters are values and the dispatch block
/// (`dispatch`): those to its own arrays and to constant tables.
Result<void> check_accesses(llvm::Function& helper, llvm::Value& dispatch);

}  // namespace smelt::aot::cpu
