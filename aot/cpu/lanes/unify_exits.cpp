// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gives a loop one latch and one exit, at that latch. See structure.hpp.
#include "lanes/rewrite.hpp"
#include "lanes/transforms.hpp"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace smelt::aot::cpu::lanes {
namespace {

// Where the edges of one loop go that will all go through the new latch.
struct Unifier {
  llvm::Loop& loop;
  Variables& variables;
  llvm::Function& function = *loop.getHeader()->getParent();
  llvm::LLVMContext& context = function.getContext();
  llvm::BasicBlock* header = loop.getHeader();
  llvm::SmallVector<llvm::BasicBlock*, 4> exits;  // in order of first appearance
  llvm::BasicBlock* latch = llvm::BasicBlock::Create(context, "lane.latch", &function);
  llvm::AllocaInst* leaving = variables.make(llvm::Type::getInt1Ty(context), "leaving");
  llvm::AllocaInst* exit_number = nullptr;
  llvm::MapVector<llvm::PHINode*, llvm::AllocaInst*> carried;  // phis of the header and of the exits

  bool to_latch(llvm::BasicBlock* target) const { return target == header || !loop.contains(target); }

  unsigned number_of(llvm::BasicBlock* target) {
    const auto found = llvm::find(exits, target);
    return static_cast<unsigned>(found - exits.begin());
  }

  void redirect(llvm::BasicBlock* source);
  void finish();
};

void Unifier::redirect(llvm::BasicBlock* source) {
  auto* branch = llvm::cast<llvm::BranchInst>(source->getTerminator());
  llvm::IRBuilder<> builder(branch);
  llvm::SmallVector<llvm::BasicBlock*, 2> targets;
  for (llvm::BasicBlock* next : llvm::successors(source)) {
    if (to_latch(next)) targets.push_back(next);
  }
  // Values are stored for every way this block may go; only those of the way taken are looked at.
  for (llvm::BasicBlock* target : targets) {
    for (llvm::PHINode& phi : target->phis()) {
      llvm::AllocaInst*& variable = carried[&phi];
      if (!variable) variable = variables.make(phi.getType(), phi.getName());
      builder.CreateStore(phi.getIncomingValueForBlock(source), variable);
    }
  }
  const auto choose = [&](auto value_of) -> llvm::Value* {
    llvm::Value* first = value_of(targets[0]);
    if (targets.size() == 1) return first;
    return builder.CreateSelect(branch->getCondition(), first, value_of(targets[1]));
  };
  builder.CreateStore(choose([&](llvm::BasicBlock* target) { return builder.getInt1(target != header); }), leaving);
  if (exit_number) {
    builder.CreateStore(choose([&](llvm::BasicBlock* target) { return builder.getInt32(number_of(target)); }),
                        exit_number);
  }
  if (targets.size() == branch->getNumSuccessors()) {
    builder.CreateBr(latch);
    branch->eraseFromParent();
  } else {
    branch->replaceSuccessorWith(targets[0], latch);
  }
}

void Unifier::finish() {
  llvm::BasicBlock* leave = llvm::BasicBlock::Create(context, "lane.leave", &function);
  const auto replace_incoming = [&](llvm::BasicBlock* target, llvm::BasicBlock* from) {
    for (llvm::PHINode& phi : target->phis()) {
      for (unsigned i = phi.getNumIncomingValues(); i-- > 0;) {
        llvm::BasicBlock* incoming = phi.getIncomingBlock(i);
        if (loop.contains(incoming)) phi.removeIncomingValue(i, /*DeletePHIIfEmpty=*/false);
      }
      phi.addIncoming(variables.get(carried[&phi], from), from);
    }
  };
  replace_incoming(header, latch);
  llvm::Value* is_leaving = variables.get(leaving, latch);
  llvm::IRBuilder<>(latch).CreateCondBr(is_leaving, leave, header);
  for (unsigned i = 0; i < exits.size(); ++i) {
    replace_incoming(exits[i], leave);
    llvm::IRBuilder<> builder(leave);
    if (i + 1 == exits.size()) {
      builder.CreateBr(exits[i]);
      break;
    }
    llvm::BasicBlock* next = llvm::BasicBlock::Create(context, "lane.leave", &function);
    llvm::Value* number = variables.get(exit_number, leave);
    builder.CreateCondBr(builder.CreateICmpEQ(number, builder.getInt32(i)), exits[i], next);
    leave = next;
  }
}

}  // namespace

void unify_exits(llvm::Loop& loop, Variables& variables) {
  Unifier unifier{loop, variables};
  llvm::SmallVector<llvm::BasicBlock*, 8> sources;
  for (llvm::BasicBlock* block : loop.blocks()) {
    bool is_source = false;
    for (llvm::BasicBlock* next : llvm::successors(block)) {
      is_source |= unifier.to_latch(next);
      if (!loop.contains(next) && !llvm::is_contained(unifier.exits, next)) unifier.exits.push_back(next);
    }
    if (is_source) sources.push_back(block);
  }
  if (unifier.exits.size() > 1) {
    unifier.exit_number = variables.make(llvm::Type::getInt32Ty(unifier.context), "exit");
  }
  for (llvm::BasicBlock* source : sources) unifier.redirect(source);
  unifier.finish();
}

}  // namespace smelt::aot::cpu::lanes
