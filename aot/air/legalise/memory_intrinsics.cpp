// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memcpy and memset in the forms that Apple's compiler writes stay; the rest becomes loops. Lifetimes go: dropping them
// is always right, and LLVM 22's one-argument form crashes Apple's front end (docs/formats/air.md 3.5).
//
//   kept    llvm.memcpy between spaces 0, 1 and 3 and from 2; llvm.memset of space 0
//   loads   of them, small copies between spaces where Apple's compiler has no llvm.memcpy: a value is loaded, and
//   stored
#include "legalise/support.hpp"
#include "llvm_support/mem_intrinsics.hpp"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

bool is_kept_copy(const llvm::MemIntrinsic& call) {
  if (const auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&call))
    return copy->getIntrinsicID() == llvm::Intrinsic::memcpy && copy->getDestAddressSpace() != kConstant;
  return call.getIntrinsicID() == llvm::Intrinsic::memset && call.getDestAddressSpace() == kThread;
}

void widen_length(llvm::MemIntrinsic& call) {
  if (call.getLength()->getType()->isIntegerTy(64)) return;
  llvm::IRBuilder<> builder(&call);
  llvm::Value* length = builder.CreateZExt(call.getLength(), builder.getInt64Ty());
  llvm::CallInst* wide = nullptr;
  if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&call))
    wide = builder.CreateMemCpy(copy->getRawDest(), copy->getDestAlign(), copy->getRawSource(), copy->getSourceAlign(),
                                length, copy->isVolatile());
  else
    wide = builder.CreateMemSet(call.getRawDest(), llvm::cast<llvm::MemSetInst>(call).getValue(), length,
                                call.getDestAlign(), call.isVolatile());
  wide->copyMetadata(call);
  call.eraseFromParent();
}

}  // namespace

Result<void> memory_intrinsics(PassContext& context) {
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    if (auto* marker = llvm::dyn_cast<llvm::IntrinsicInst>(instruction)) {
      const llvm::Intrinsic::ID id = marker->getIntrinsicID();
      const bool is_lifetime = id == llvm::Intrinsic::lifetime_start || id == llvm::Intrinsic::lifetime_end ||
                               id == llvm::Intrinsic::invariant_end || id == llvm::Intrinsic::invariant_start;
      if (is_lifetime && marker->use_empty()) {
        marker->eraseFromParent();
        continue;
      }
    }
    auto* call = llvm::dyn_cast<llvm::MemIntrinsic>(instruction);
    if (!call) continue;
    if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(call); copy && is_kept_copy(*copy) && copy_by_values(*copy))
      continue;
    if (is_kept_copy(*call)) {
      widen_length(*call);
      continue;
    }
    const llvm::TargetTransformInfo costs(context.module.getDataLayout());
    if (llvm::isa<llvm::MemCpyInst>(call) && call->getDestAddressSpace() == kConstant)
      return refuse(*call, "writes constant memory");
    if (!expand_as_loop(*call, costs))
      return refuse(*call, "moves between address spaces that may overlap; AIR has no such operation");
  }
  return {};
}

}  // namespace smelt::aot::air
