// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/mem_intrinsics.hpp"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"

namespace smelt::aot {

bool becomes_call(const llvm::MemIntrinsic& intrinsic) {
  constexpr uint64_t kInlineBytes = 128;  // both code generators expand constant lengths up to this in place
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(intrinsic.getLength());
  return !length || length->getZExtValue() > kInlineBytes;
}

bool expand_as_loop(llvm::MemIntrinsic& intrinsic, const llvm::TargetTransformInfo& costs) {
  if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&intrinsic))
    llvm::expandMemCpyAsLoop(copy, costs);
  else if (auto* set = llvm::dyn_cast<llvm::MemSetInst>(&intrinsic))
    llvm::expandMemSetAsLoop(set);
  else if (!llvm::expandMemMoveAsLoop(llvm::cast<llvm::MemMoveInst>(&intrinsic), costs))
    return false;
  intrinsic.eraseFromParent();
  return true;
}

}  // namespace smelt::aot
