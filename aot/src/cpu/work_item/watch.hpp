// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks beyond bounds: code that tells the loader what its threads do (smelt_cpu_watch). The loader keeps the books
// (loader/src/device/cpu/watch); here are only the calls.
#pragma once

#include "smelt/base/checks.hpp"

#include "cpu/work_item.hpp"
#include "cpu/work_item/checked.hpp"

#include <string>
#include <vector>

namespace llvm {
class CallInst;
class DebugLoc;
class IRBuilderBase;
class Instruction;
class Module;
class TargetMachine;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu {

/// On calls of collectives: the text that says where they stand in the source.
inline constexpr char kPlaceMetadata[] = "smelt.place";

/// Puts a call before each access, barrier and operation of a SIMD group of a work item whose accesses are checked
/// already. Places are those of the debug info, which is not needed afterwards.
void watch_threads(const WorkItem& item, Checks checks, const std::vector<ThreadgroupObject>& objects);

/// Values that nobody has written, followed by LLVM's MemorySanitizer. After watch_threads.
void watch_values(const WorkItem& item, llvm::TargetMachine& target);

/// The thread's linear position in the grid, i64, computed at the entry of the function.
llvm::Value* linear_position(const WorkItem& item);

/// A field of smelt_cpu_watch, at `offset`, from the dispatch block.
llvm::Value* load_watch_field(llvm::IRBuilderBase& builder, llvm::Value* dispatch, uint64_t offset);

/// "FILE:LINE:COLUMN", as a constant of the module that many places may share.
llvm::Value* place_text(llvm::Module& module, const std::string& text);
std::string place_of(const llvm::Instruction& instruction);

}  // namespace smelt::aot::cpu
