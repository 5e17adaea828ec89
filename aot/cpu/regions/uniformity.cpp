// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "regions/uniformity.hpp"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"

namespace smelt::aot::cpu {
namespace {

/// Differs between threads whatever its operands are.
bool is_source(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::AllocaInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) return true;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isAtomic() || load->isVolatile();
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call != nullptr && !call->getType()->isVoidTy() && (call->mayReadOrWriteMemory() || call->isConvergent());
}

}  // namespace

bool Uniformity::is_divergent(const llvm::BasicBlock* block) const {
  return block->getTerminator()->getNumSuccessors() > 1 && varying_.contains(block->getTerminator());
}

void Uniformity::mark_sources(const WorkItem& item) {
  for (size_t i = 0; i < item.parameters.size(); ++i) {
    const WorkParameter& parameter = item.parameters[i];
    if (parameter.kind == WorkParameter::Kind::lanes_on ||
        (parameter.kind == WorkParameter::Kind::builtin && varies_in_group(parameter.builtin)))
      varying_.insert(item.function->getArg(static_cast<unsigned>(i)));
  }
  for (const llvm::Instruction& instruction : llvm::instructions(*item.function))
    if (is_source(instruction)) varying_.insert(&instruction);
}

/// Values: an operand differs, or (phi) the way here does. Gives whether anything was new.
bool Uniformity::propagate(llvm::Function& function) {
  bool changed = false;
  for (const llvm::BasicBlock& block : function)
    for (const llvm::Instruction& instruction : block) {
      if (varying_.contains(&instruction)) continue;
      bool varies = llvm::isa<llvm::PHINode>(instruction) && joins_.contains(&block);
      for (const llvm::Value* operand : instruction.operands()) varies |= varying_.contains(operand);
      if (varies) changed |= varying_.insert(&instruction).second;
    }
  return changed;
}

Uniformity::Uniformity(const WorkItem& item) {
  llvm::Function& function = *item.function;
  mark_sources(item);
  const llvm::DominatorTree dominators(function);
  const llvm::PostDominatorTree post_dominators(function);
  const llvm::LoopInfo loops(dominators);
  llvm::DenseSet<const llvm::BasicBlock*> followed;
  for (bool changed = true; changed;) {
    changed = propagate(function);
    for (llvm::BasicBlock& block : function) {
      if (!is_divergent(&block) || !followed.insert(&block).second) continue;
      changed = true;
      const auto* node = post_dominators.getNode(&block);
      const llvm::BasicBlock* join =
          node != nullptr && node->getIDom() != nullptr ? node->getIDom()->getBlock() : nullptr;
      // Everything between the branch and its post-dominator is reached by some threads only.
      llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
      llvm::SmallVector<const llvm::BasicBlock*> work(llvm::successors(&block));
      while (!work.empty()) {
        const llvm::BasicBlock* next = work.pop_back_val();
        if (!seen.insert(next).second) continue;
        joins_.insert(next);
        if (next == join) continue;
        under_divergence_.insert(next);
        work.append(llvm::succ_begin(next), llvm::succ_end(next));
      }
      // Threads leave a loop in different iterations: what they carry out differs.
      for (const llvm::Loop* loop = loops.getLoopFor(&block); loop != nullptr; loop = loop->getParentLoop()) {
        if (!loop->isLoopExiting(&block)) continue;
        for (const llvm::BasicBlock* inside : loop->blocks())
          for (const llvm::Instruction& instruction : *inside)
            for (const llvm::User* user : instruction.users())
              if (!loop->contains(llvm::cast<llvm::Instruction>(user)->getParent())) varying_.insert(&instruction);
      }
    }
  }
}

}  // namespace smelt::aot::cpu
