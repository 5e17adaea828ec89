// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/waiting.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <set>

namespace smelt::aot::cpu {
namespace {

/// `| 0`, `+ 0` and `& ~0` leave memory as it is: kernels write them for a load.
bool changes_nothing(const llvm::AtomicRMWInst& atomic) {
  const auto* operand = llvm::dyn_cast<llvm::ConstantInt>(atomic.getValOperand());
  if (operand == nullptr) return false;
  switch (atomic.getOperation()) {
    case llvm::AtomicRMWInst::Add:
    case llvm::AtomicRMWInst::Sub:
    case llvm::AtomicRMWInst::Or:
    case llvm::AtomicRMWInst::Xor:
      return operand->isZero();
    case llvm::AtomicRMWInst::And:
      return operand->isMinusOne();
    default:
      return false;
  }
}

bool reads_what_others_write(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isAtomic() || load->isVolatile();
  const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  return atomic != nullptr && changes_nothing(*atomic);
}

bool waits(const llvm::Loop& loop) {
  std::vector<const llvm::Instruction*> work;
  std::set<const llvm::Instruction*> seen;
  const auto add = [&](const llvm::Value* value) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction != nullptr && loop.contains(instruction) && seen.insert(instruction).second)
      work.push_back(instruction);
  };
  llvm::SmallVector<llvm::BasicBlock*> exiting;
  loop.getExitingBlocks(exiting);
  for (const llvm::BasicBlock* block : exiting)
    for (const llvm::Value* operand : block->getTerminator()->operands()) add(operand);
  while (!work.empty()) {
    const llvm::Instruction* instruction = work.back();
    work.pop_back();
    if (reads_what_others_write(*instruction)) return true;
    // The result of one of these decides, and not the operands that it was made of.
    if (llvm::isa<llvm::LoadInst, llvm::CallBase, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) continue;
    for (const llvm::Value* operand : instruction->operands()) add(operand);
  }
  return false;
}

}  // namespace

bool may_wait(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    if (llvm::any_of(loops.getLoopsInPreorder(), [](const llvm::Loop* loop) { return waits(*loop); })) return true;
  }
  return false;
}

}  // namespace smelt::aot::cpu
