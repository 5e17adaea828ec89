// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plain LLVM fence aborts Apple's compiler. What stands in for one (docs/formats/air.md 3.5 to 3.7):
//
//   next to a barrier              the barrier orders memory already; its flags cover device and threadgroup memory
//   AIR 2.7 and later              air.atomic.fence(flags 3, seq_cst, scope): Metal 3.2 has no weaker order on fences
//   one SIMD-group                 air.simdgroup.barrier(3, scope)
//   otherwise                      an error, or nothing with --relaxed-atomics
#include "legalise/memory_order.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

constexpr unsigned kDeviceAndThreadgroup = 3;

llvm::CallInst* barrier_call(llvm::Instruction* instruction) {
  auto* call = llvm::dyn_cast_or_null<llvm::CallInst>(instruction);
  if (!call || !call->getCalledFunction()) return nullptr;
  return call->getCalledFunction()->getName() == "air.wg.barrier" ? call : nullptr;
}

bool touches_memory(const llvm::Instruction& instruction) {
  return !llvm::isa<llvm::FenceInst>(instruction) && (instruction.mayReadOrWriteMemory() || instruction.isTerminator());
}

/// The threadgroup barrier before or behind the fence with no memory access in between.
llvm::CallInst* adjacent_barrier(llvm::FenceInst& fence) {
  for (llvm::Instruction* at = fence.getPrevNode(); at; at = at->getPrevNode()) {
    if (llvm::CallInst* barrier = barrier_call(at)) return barrier;
    if (touches_memory(*at)) break;
  }
  for (llvm::Instruction* at = fence.getNextNode(); at; at = at->getNextNode()) {
    if (llvm::CallInst* barrier = barrier_call(at)) return barrier;
    if (touches_memory(*at)) break;
  }
  return nullptr;
}

void widen_flags(llvm::CallInst& barrier) {
  if (auto* flags = llvm::dyn_cast<llvm::ConstantInt>(barrier.getArgOperand(0)))
    barrier.setArgOperand(0, llvm::ConstantInt::get(flags->getType(), flags->getZExtValue() | kDeviceAndThreadgroup));
}

Result<void> replace(PassContext& context, llvm::FenceInst& fence) {
  const MemoryScope scope = scope_of(fence.getContext(), fence.getSyncScopeID());
  if (scope == MemoryScope::thread) return {};
  if (llvm::CallInst* barrier = adjacent_barrier(fence); barrier && scope != MemoryScope::device) {
    widen_flags(*barrier);
    return {};
  }
  llvm::IRBuilder<> builder(&fence);
  return emit_fence(context, builder, scope, fence);
}

}  // namespace

Result<void> fences(PassContext& context) {
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    auto* fence = llvm::dyn_cast<llvm::FenceInst>(instruction);
    if (!fence) continue;
    SMELT_TRY_VOID(replace(context, *fence));
    fence->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::air
