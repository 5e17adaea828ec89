// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memcpy, memmove and memset as loops, where nobody may call a library.
#pragma once

namespace llvm {
class MemIntrinsic;
class TargetTransformInfo;
}  // namespace llvm

namespace smelt::aot {

/// Whether code generators would make a call of it: its length is unknown, or more than they expand in place.
bool becomes_call(const llvm::MemIntrinsic& intrinsic);

/// A loop in its place. False, and nothing is changed, for a move between address spaces that may overlap.
bool expand_as_loop(llvm::MemIntrinsic& intrinsic, const llvm::TargetTransformInfo& costs);

}  // namespace smelt::aot
