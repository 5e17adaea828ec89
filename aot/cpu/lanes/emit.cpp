// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/emit.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"

namespace smelt::aot::cpu::lanes {
namespace {

bool means_nothing(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && (call->isAssumeLikeIntrinsic() || call->isLifetimeStartOrEnd());
}

}  // namespace

void GangEmitter::run() {
  const std::vector<llvm::BasicBlock*> blocks = control_flow_.create_blocks();
  for (llvm::BasicBlock* block : blocks) emit_block(block);
  for (llvm::BasicBlock* block : blocks) control_flow_.connect_phis(block);
  collectives_.drop_unused_matrix_loads();
}

void GangEmitter::emit_block(llvm::BasicBlock* block) {
  control_flow_.open(block);
  for (llvm::Instruction& instruction : *block) {
    if (!llvm::isa<llvm::PHINode>(instruction) && !instruction.isTerminator()) emit(instruction);
  }
  const auto* last = llvm::dyn_cast<llvm::ReturnInst>(block->getTerminator());
  if (last && result_) collectives_.store_rows(last->getReturnValue(), result_);
  control_flow_.close(block);
}

void GangEmitter::emit(llvm::Instruction& instruction) {
  if (means_nothing(instruction)) return;
  gang_.builder.SetCurrentDebugLocation(instruction.getDebugLoc());  // of a listing alone
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call && !llvm::isa<llvm::IntrinsicInst>(call)) return emit_call(*call);
  if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return memory_.emit_atomic(*atomic);
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return memory_.emit_compare_exchange(*exchange);
  if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) return memory_.emit_alloca(*alloca);
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return memory_.emit_store(*store);
  const Shape form = gang_.shape(&instruction);
  if (form.is_matrix()) return collectives_.emit_matrix(instruction);
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (load && form.is_varying()) return memory_.emit_load(*load);
  auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction);
  if (extract && is_matrix_type(extract->getVectorOperandType())) return collectives_.emit_matrix_element(*extract);
  arithmetic_.emit(instruction);
}

void GangEmitter::emit_call(llvm::CallInst& call) {
  if (!is_texture_call(*call.getCalledFunction())) return collectives_.emit_call(call);
  if (!call.getType()->isVoidTy() && gang_.shape(&call).is_uniform()) return arithmetic_.emit_copy(call);
  memory_.emit_texture_call(call);
}

}  // namespace smelt::aot::cpu::lanes
