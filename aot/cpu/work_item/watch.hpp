// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks beyond bounds: code that tells the loader what its threads do (smelt_cpu_watch). The loader keeps the books
// (loader/src/device/cpu/watcher.hpp); here is what reaches it: calls, and
// code that does itself what most accesses need (smelt_cpu_cells).
#pragma once

#include "smelt/base/checks.hpp"

#include "work_item/checked.hpp"
#include "work_item/work_item.hpp"

#include <vector>

namespace llvm {
class TargetMachine;
}  // namespace llvm

namespace smelt::aot::cpu {

/// On calls of collectives: the text that says where they stand in the source.
inline constexpr char kPlaceMetadata[] = "smelt.place";

/// On calls at which threads meet: what smelt_cpu_watch::meet is told of them, {i32 flags, text}.
inline constexpr char kMeetMetadata[] = "smelt.meet";

/// Tells it, of threads first + i for each bit i of `threads`.
void call_meet(llvm::IRBuilderBase& builder, llvm::Module& module, llvm::Value* dispatch, llvm::Value* first,
               llvm::Value* threads, const llvm::MDNode& meeting);

/// The kernel's entry tells the loader first which sites there are, with an access to nothing: code that writes all of
/// its books itself would never say it. After watch_threads and the launch loops.
void tell_sites(llvm::Function& entry);

/// Puts what tells the loader before each access, barrier and operation of a SIMD group of a work item whose accesses
/// are checked already. Places are those of the debug info, which is not needed afterwards.
void watch_threads(const WorkItem& item, Checks checks, const std::vector<ThreadgroupObject>& objects);

/// Values that nobody has written, followed by LLVM's MemorySanitizer. After watch_threads.
void watch_values(const WorkItem& item, llvm::TargetMachine& target);

}  // namespace smelt::aot::cpu
