// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What happens to a copy of the thread's function before its control flow is looked at.
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace smelt::aot::cpu::lanes {

/// On an alloca: the distance between two lanes in it, in bytes (`!{i64 step}`). Its size then includes all lanes.
inline constexpr char kLaneStep[] = "smelt.lane_step";

/// Copies and fills of memory become loads and stores, which the emitter can do lane by lane.
void expand_memory_intrinsics(llvm::Function& function);

/// Private arrays whose elements are all of one size are laid out with the lanes innermost, so that lanes which use the
/// same index touch adjacent memory. Others stay as they are: one whole array after another.
void interleave_private_memory(llvm::Function& function, unsigned lanes);

/// Operations on whole simdgroup matrices become operations on the two elements that a thread owns.
void split_matrices(llvm::Function& function);

}  // namespace smelt::aot::cpu::lanes
