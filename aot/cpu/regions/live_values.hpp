// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must survive a synchronisation site, and how: made again from arguments when that is cheap, else kept in a
// variable (docs/design/cpu-code.md 2, step 7). Making an address again instead of loading it back is what lets the
// loop vectoriser see that neighbouring threads touch neighbouring memory.
#pragma once

#include "regions/sites.hpp"

#include "llvm/ADT/BitVector.h"

namespace llvm {
class AllocaInst;
class Function;
}  // namespace llvm

namespace smelt::aot::cpu {

/// A value kept across sites, as an alloca in the function's entry block with plain loads and stores only.
struct LiveVariable {
  llvm::AllocaInst* slot = nullptr;
  bool uniform = false;  ///< the same in all threads of the group
};

struct LiveState {
  std::vector<LiveVariable> variables;
  std::vector<llvm::AllocaInst*> arrays;      ///< private memory that is in use across some site
  std::vector<llvm::BitVector> live_at_site;  ///< per site: variables that its continuation may read
};

/// About how many values keep_live_values will keep, added up over all sites, in time proportional to the function's
/// size. Before split_at_sites; `sites` as find_sites gives them. Code made from them grows with this number.
uint64_t estimate_kept(const std::vector<MeetingPoint>& sites, llvm::Function& function);

/// After split_at_sites. `uniformity` (null: nothing is uniform) is asked about values as they were before. `slots` are
/// allocas that the caller made for values around sites; they become variables too.
LiveState keep_live_values(llvm::Function& function, const std::vector<MeetingPoint>& sites,
                           const Uniformity* uniformity, const std::vector<llvm::AllocaInst*>& slots = {});

/// Fills live_at_site.
void compute_liveness(llvm::Function& function, const std::vector<MeetingPoint>& sites, LiveState& state);

}  // namespace smelt::aot::cpu
