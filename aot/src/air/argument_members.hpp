// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The members of an argument buffer out of the metadata of its structure (docs/formats/air.md 1.6), Apple's or ours.
#pragma once

#include "smelt/aot/kernel_info.hpp"

namespace llvm {
class MDNode;
}

namespace smelt::aot::air {

/// Every member that holds a value, in the order of the structure. Empty when the node is malformed, or has so many
/// members that only a forger could mean it.
std::vector<MemberInfo> read_members(const llvm::MDNode& structure);

}  // namespace smelt::aot::air
