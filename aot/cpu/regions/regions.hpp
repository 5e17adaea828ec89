// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A work item cut at its sites: one function for each stretch from a site (or the start) to the next sites. A region
// may start anywhere, so barriers in loops and irreducible control flow need no special care (docs/design/cpu-code.md
// 2).
#pragma once

#include "regions/live_values.hpp"

#include <map>

namespace llvm {
class IRBuilderBase;
class MDNode;
}  // namespace llvm

namespace smelt::aot::cpu {

/// A region's answer when the unit has ended; else the number of the site it waits at.
inline constexpr uint32_t kEnded = 0xffffffff;

/// Where a unit's kept values lie. Units are threads: structure of arrays, so that neighbours are consecutive. Units
/// are gangs: one block for each gang (their values are vectors already).
class ContextLayout {
 public:
  explicit ContextLayout(Unit unit) : unit_(unit) {}
  /// Places are given in calls' order; give large ones first. Gives the place's handle.
  uint64_t add(uint64_t bytes, uint64_t alignment);
  /// Bytes of all places for one unit.
  uint64_t bytes() const;
  /// Address of a place. `unit` and `capacity` (units that there is room for) are i64.
  llvm::Value* address(llvm::IRBuilderBase& builder, llvm::Value* context, llvm::Value* unit, llvm::Value* capacity,
                       uint64_t place, uint64_t bytes) const;

 private:
  Unit unit_;
  uint64_t bytes_ = 0;
};

struct Regions {
  /// By site number; 0 is the start. Signature: (work item's parameters..., ptr context, i64 unit, i64 capacity,
  /// i32 number, uniform values...) -> {i32 next, uniform values...}. Numbers may share a function, which then asks
  /// which of them it is to go on from.
  std::map<unsigned, llvm::Function*> bodies;
  std::vector<llvm::Type*> uniform_types;
  std::map<unsigned, std::vector<bool>> uniform_live;  ///< by site number: which uniform values the region reads
  llvm::MDNode* access_group = nullptr;  ///< accesses of different units are independent; for loop metadata
  std::map<const llvm::AllocaInst*, uint64_t> place_of_slot;  ///< context place of each variable's slot
};

/// Clones the regions out of `item.function`, which is left alone. `sites` are split, `state` is complete. With
/// `share`, regions that have much code in common become one function (no variable may be uniform then): the body of a
/// loop with a barrier is reached from before the loop and from each barrier in it.
Regions make_regions(const WorkItem& item, const std::vector<MeetingPoint>& sites, const LiveState& state,
                     ContextLayout& layout, const std::string& name, bool share);

/// Marks accesses that loops over units may reorder: plain ones to memory that others can see.
void mark_parallel(llvm::Function& function, llvm::MDNode* access_group);

/// Loop metadata for a loop over units: parallel accesses, and no unrolling, since what the vectoriser takes is wide
/// enough. It takes no atomics; a loop with some may be unrolled: `unroll`.
llvm::MDNode* unit_loop_properties(llvm::LLVMContext& context, llvm::MDNode* access_group, bool unroll = false);

}  // namespace smelt::aot::cpu
