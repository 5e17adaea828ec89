// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memcpy, memmove and memset as loops, where nobody may call a library.
#pragma once

namespace llvm {
class MemCpyInst;
class MemIntrinsic;
class TargetTransformInfo;
}  // namespace llvm

namespace smelt::aot {

/// Whether code generators would make a call of it: its length is unknown, or more than they expand in place.
bool becomes_call(const llvm::MemIntrinsic& intrinsic);

/// A loop in its place. False, and nothing is changed, for a move between address spaces that may overlap.
bool expand_as_loop(llvm::MemIntrinsic& intrinsic, const llvm::TargetTransformInfo& costs);

/// A copy of up to 64 bytes between AIR's address spaces for which Apple's compiler has no llvm.memcpy becomes loads
/// and stores, with everything loaded before the first store. False, and nothing is changed, for any other.
bool copy_by_values(llvm::MemCpyInst& copy);

}  // namespace smelt::aot
