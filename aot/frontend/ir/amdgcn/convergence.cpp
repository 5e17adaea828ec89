// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conservative: a value varies when it comes from the thread's number, from memory that several threads write at once,
// or from anything that varies. A branch on such a value parts the lanes up to its post-dominator, with one exception:
// when that stretch holds a barrier of the whole group, all threads take it together, or the program has no meaning.
// (Triton branches on scalars that a reduction made: equal in all lanes, though nothing in the IR says so.)
#include "ir/amdgcn/convergence.hpp"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace smelt::aot::input::amdgcn {
namespace {

/// Equal in all lanes of the wave whatever the operands are.
bool gives_one_value(llvm::StringRef operation) {
  return operation.starts_with("readlane") || operation.starts_with("readfirstlane") ||
         operation.starts_with("ballot") || operation.starts_with("workgroup.id");
}

bool is_source(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::AllocaInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) return true;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isAtomic() || load->isVolatile();
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call) return false;
  const llvm::StringRef operation = amd_name(*call);
  return operation.starts_with("workitem.id") || operation.starts_with("mbcnt") || operation.contains(".atomic.");
}

using Blocks = llvm::SmallPtrSet<const llvm::BasicBlock*, 16>;

/// From the branch at the end of `block` to `join`, which is not part of it.
Blocks between(const llvm::BasicBlock& block, const llvm::BasicBlock* join) {
  Blocks seen;
  llvm::SmallVector<const llvm::BasicBlock*> work(llvm::successors(&block));
  while (!work.empty()) {
    const llvm::BasicBlock* next = work.pop_back_val();
    if (next == join || !seen.insert(next).second) continue;
    work.append(llvm::succ_begin(next), llvm::succ_end(next));
  }
  return seen;
}

}  // namespace

llvm::StringRef amd_name(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  name.consume_front("llvm.");
  return name.consume_front("amdgcn.") ? name : llvm::StringRef();
}

bool is_barrier(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call) return false;
  const llvm::StringRef operation = amd_name(*call);
  return operation == "s.barrier" || operation == "s.barrier.signal" || operation == "s.barrier.wait";
}

llvm::StringRef amd_name(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee ? amd_name(*callee) : llvm::StringRef();
}

bool Convergence::is_divergent(const llvm::BasicBlock& block) const {
  const llvm::Instruction* end = block.getTerminator();
  if (end->getNumSuccessors() < 2) return false;
  return llvm::any_of(end->operands(), [&](const llvm::Use& use) { return varying_.contains(use.get()); });
}

/// Gives whether anything was new.
bool Convergence::propagate(llvm::Function& kernel) {
  bool changed = false;
  for (const llvm::BasicBlock& block : kernel)
    for (const llvm::Instruction& instruction : block) {
      if (varying_.contains(&instruction)) continue;
      if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && gives_one_value(amd_name(*call)))
        continue;
      bool varies = llvm::isa<llvm::PHINode>(instruction) && joins_.contains(&block);
      for (const llvm::Value* operand : instruction.operands()) varies |= varying_.contains(operand);
      if (varies) changed |= varying_.insert(&instruction).second;
    }
  return changed;
}

Convergence::Convergence(llvm::Function& kernel) {
  for (const llvm::Instruction& instruction : llvm::instructions(kernel))
    if (is_source(instruction)) varying_.insert(&instruction);
  const llvm::DominatorTree dominators(kernel);
  const llvm::PostDominatorTree post_dominators(kernel);
  const llvm::LoopInfo loops(dominators);
  Blocks followed;
  for (bool changed = true; changed;) {
    changed = propagate(kernel);
    for (const llvm::BasicBlock& block : kernel) {
      if (!is_divergent(block) || !followed.insert(&block).second) continue;
      const auto* node = post_dominators.getNode(&block);
      const llvm::BasicBlock* join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
      const Blocks arms = between(block, join);
      const bool has_barrier = llvm::any_of(arms, [](const llvm::BasicBlock* arm) {
        return llvm::any_of(*arm, [](const llvm::Instruction& instruction) { return is_barrier(instruction); });
      });
      if (has_barrier) continue;
      changed = true;
      for (const llvm::BasicBlock* arm : arms) partial_.insert(arm);
      joins_.insert(arms.begin(), arms.end());
      if (join) joins_.insert(join);
      // Lanes leave a loop in different iterations: what they carry out of it differs.
      for (const llvm::Loop* loop = loops.getLoopFor(&block); loop; loop = loop->getParentLoop()) {
        if (!loop->isLoopExiting(&block)) continue;
        for (const llvm::BasicBlock* inside : loop->blocks())
          for (const llvm::Instruction& instruction : *inside)
            for (const llvm::User* user : instruction.users())
              if (!loop->contains(llvm::cast<llvm::Instruction>(user)->getParent())) varying_.insert(&instruction);
      }
    }
  }
}

}  // namespace smelt::aot::input::amdgcn
