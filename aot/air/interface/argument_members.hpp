// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The members of an argument buffer, or of another structure behind a buffer, out of its metadata (docs/formats/air.md
// 1.6), Apple's or ours.
#pragma once

#include "smelt/aot/kernel_info.hpp"

namespace llvm {
class MDNode;
}

namespace smelt::aot::air {

/// Every member that holds a value, in the order of the structure. Empty when the node is malformed, or has so many
/// members that only a forger could mean it.
std::vector<MemberInfo> read_members(const llvm::MDNode& structure);

/// Likewise of a structure that is no argument buffer: values without an id. Empty too when there are more than
/// kMostStructureMembers: packages list them for those who pass a structure by its members.
std::vector<MemberInfo> read_structure(const llvm::MDNode& structure);
inline constexpr size_t kMostStructureMembers = 64;

}  // namespace smelt::aot::air
