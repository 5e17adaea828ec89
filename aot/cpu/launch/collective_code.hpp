// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A collective as code over memory: each lane's operands lie in arrays, one element a lane, and so do the results. Used
// when lanes run one after another (simdgroup_loop.cpp). Meanings: lower/collectives.hpp.
#pragma once

#include "smelt/base/result.hpp"

#include "launch/flow_builder.hpp"
#include "lower/collectives.hpp"

#include <functional>

namespace smelt::aot::cpu {

/// Where lane 0's value lies and its type; lane l's is l times the type's allocation size further. Flags are i8.
struct LaneArray {
  llvm::Value* address = nullptr;
  llvm::Type* type = nullptr;
};

/// Emits what is done about lanes (bits of an i32) that read lanes which do not take part. Empty: nothing.
using StrayLanes = std::function<void(llvm::Value* readers)>;

/// Emits one collective for one simdgroup. `mask` (i32, not zero) has a bit for each lane that takes part. Results of
/// lanes that do not take part may be overwritten. `result` is empty for void calls. Arrays must have room for 32
/// lanes.
Result<void> emit_collective(FlowBuilder& builder, const Collective& collective, llvm::ArrayRef<LaneArray> operands,
                             const LaneArray& result, llvm::Value* mask, const StrayLanes& stray = {});

}  // namespace smelt::aot::cpu
