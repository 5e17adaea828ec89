// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a work item must stop because others have to catch up: found, ordered, split (docs/design/cpu-code.md 2, step
// 5).
#pragma once

#include "lower/collectives.hpp"
#include "work_item/work_item.hpp"

#include <optional>
#include <vector>

namespace llvm {
class BasicBlock;
class CallInst;
}  // namespace llvm

namespace smelt::aot::cpu {

class Uniformity;

struct MeetingPoint {
  enum class Kind : uint8_t {
    barrier,     ///< all threads of the group
    collective,  ///< the lanes of a simdgroup exchange values
    reconverge,  ///< lanes of a simdgroup wait for each other, nothing else
  };
  Kind kind = Kind::barrier;
  unsigned number = 0;  ///< from 1; a lane at a lower number may still come to a higher one without a back edge
  llvm::CallInst* call = nullptr;
  std::optional<Collective> collective;
  llvm::BasicBlock* continuation = nullptr;  ///< set by split_at_sites
};

/// True when threads cannot disagree about which barrier they reach, so that one answer stands for all. `lanes`: those
/// of a simdgroup run as one, so that only barriers of the threadgroup count.
bool barriers_are_uniform(const WorkItem& item, const Uniformity& uniformity, bool lanes);

/// In kernels whose lanes wait for each other: a reconvergence call at the latch of every divergent loop that holds a
/// site. Without it, lanes of different iterations could meet at one site and take each other for neighbours.
void add_reconvergence(const WorkItem& item);

/// All sites in an order in which every loop is contiguous and comes before what follows it. `lanes` tells whether
/// simdgroup barriers and collectives are sites of their own kind (else only barriers exist, and a simdgroup barrier
/// counts as one).
std::vector<MeetingPoint> find_sites(const WorkItem& item, bool lanes);

/// For gangs: sites are the barrier calls, numbered by their metadata. Nothing when two calls share a number.
std::optional<std::vector<MeetingPoint>> find_numbered_sites(const WorkItem& item);

/// Ends the block of each site after its call; the rest is its continuation.
void split_at_sites(std::vector<MeetingPoint>& sites);

}  // namespace smelt::aot::cpu
