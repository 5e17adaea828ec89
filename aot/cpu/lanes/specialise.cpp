// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/specialise.hpp"

#include "lanes/rewrite.hpp"
#include "lanes/structure.hpp"
#include "llvm_support/analyses.hpp"
#include "lower/collectives.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace smelt::aot::cpu::lanes {
namespace {

constexpr size_t kLargestLoop = 400;  // instructions
constexpr size_t kLargestArm = 600;
constexpr size_t kLargestStraightArm = 200;
constexpr size_t kManyAccesses = 3;
constexpr unsigned kMostCopies = 12;
// On the branch of what is left for lanes that disagree: it is not copied again.
constexpr const char* kRest = "smelt.lane_rest";

void mark_rest(llvm::BranchInst* branch) {
  branch->setMetadata(kRest, llvm::MDNode::get(branch->getContext(), {}));
}

llvm::Value* all_lanes(llvm::IRBuilder<>& builder, llvm::Value* condition) {
  llvm::FunctionCallee callee = builder.GetInsertBlock()->getModule()->getOrInsertFunction(
      kAllLanes, llvm::FunctionType::get(builder.getInt1Ty(), {builder.getInt1Ty()}, false));
  llvm::CallInst* call = builder.CreateCall(callee, {condition});
  call->setConvergent();
  return call;
}

void copy_blocks(llvm::Function& function, llvm::ArrayRef<llvm::BasicBlock*> blocks, llvm::ValueToValueMapTy& map) {
  llvm::SmallVector<llvm::BasicBlock*, 16> copies;
  for (llvm::BasicBlock* block : blocks) {
    copies.push_back(llvm::CloneBasicBlock(block, map, ".all", &function));
    map[block] = copies.back();
  }
  llvm::remapInstructionsInBlocks(copies, map);
}

class Specialiser {
 public:
  Specialiser(llvm::Function& function, llvm::ArrayRef<Shape> arguments, unsigned lanes, bool spread)
      : function_(function), arguments_(arguments), lanes_(lanes), spread_(spread) {}

  bool run();

 private:
  bool step();
  bool all_lanes_reach(const Analysis& analysis, llvm::BasicBlock* block) const;
  bool usually_agree(const Analysis& analysis, llvm::Value* condition, unsigned depth = 0) const;
  bool copy_loop(const Analysis& analysis, llvm::Loop& loop);
  void copy_arm(const Analysis& analysis, const Level& level, unsigned node, const Arm& arm);

  llvm::Function& function_;
  llvm::ArrayRef<Shape> arguments_;
  unsigned lanes_;
  bool spread_;
};

bool can_copy(llvm::ArrayRef<llvm::BasicBlock*> blocks, size_t most) {
  size_t size = 0;
  for (const llvm::BasicBlock* block : blocks) {
    size += block->size();
    for (const llvm::Instruction& instruction : *block) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (!callee) continue;
      // Every copy of a barrier would be one more site; and what was copied once is not copied again.
      if (callee->getName() == kAllLanes) return false;
      const auto collective = parse_collective(std::string_view(callee->getName()));
      if (collective && collective->kind == CollectiveKind::threadgroup_barrier) return false;
    }
  }
  return size <= most;
}

/// Without a loop, masks cost most in memory: they make masked or scattered accesses of plain ones.
bool has_many_accesses(llvm::ArrayRef<llvm::BasicBlock*> blocks) {
  size_t accesses = 0;
  for (const llvm::BasicBlock* block : blocks) accesses += memory_accesses(*block);
  return accesses >= kManyAccesses;
}

bool Specialiser::all_lanes_reach(const Analysis& analysis, llvm::BasicBlock* block) const {
  while (block != &function_.getEntryBlock()) {
    llvm::Loop* loop = analysis.loops->getLoopFor(block);
    if (loop && loop->getHeader() == block) {
      if (analysis.shapes->divergent(loop)) return false;
      block = loop->getLoopPreheader();
      continue;
    }
    llvm::BasicBlock* above = analysis.dominators->getNode(block)->getIDom()->getBlock();
    if (llvm::Loop* left = analysis.loops->getLoopFor(above); left && !left->contains(block)) {
      while (left->getParentLoop() && !left->getParentLoop()->contains(block)) left = left->getParentLoop();
      block = left->getLoopPreheader();
      continue;
    }
    if (analysis.shapes->divergent(above) && block->getSinglePredecessor() == above) return false;
    block = above;
  }
  return true;
}

bool Specialiser::usually_agree(const Analysis& analysis, llvm::Value* condition, unsigned depth) const {
  const Shape form = analysis.shapes->of(condition);
  if (form.is_uniform()) return true;
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(condition);
  if (!instruction || depth > 4) return false;
  if (llvm::isa<llvm::ICmpInst>(instruction)) {
    const Shape a = analysis.shapes->of(instruction->getOperand(0));
    const Shape b = analysis.shapes->of(instruction->getOperand(1));
    const auto is_known = [&](const Shape& one) { return !one.is_varying() && (spread_ || !one.is_spread()); };
    return (a.has_offsets() || b.has_offsets()) && is_known(a) && is_known(b);
  }
  if (!instruction->isBitwiseLogicOp() && !llvm::isa<llvm::SelectInst>(instruction)) return false;
  return llvm::all_of(instruction->operands(),
                      [&](const llvm::Use& use) { return usually_agree(analysis, use, depth + 1); });
}

// if (c) A   becomes   if (all lanes: c) A' else if (c) A
void Specialiser::copy_arm(const Analysis&, const Level& level, unsigned node, const Arm& arm) {
  llvm::BasicBlock* block = level.nodes[node].block;
  llvm::SmallVector<llvm::BasicBlock*, 16> blocks;
  for (unsigned inside : level.region(node)) {
    if (level.nodes[inside].block) blocks.push_back(level.nodes[inside].block);
    if (level.nodes[inside].loop) llvm::append_range(blocks, level.nodes[inside].loop->blocks());
  }
  llvm::ValueToValueMapTy map;
  copy_blocks(function_, blocks, map);
  for (llvm::PHINode& phi : arm.join->phis()) {
    for (unsigned i = 0, count = phi.getNumIncomingValues(); i < count; ++i) {
      llvm::BasicBlock* from = phi.getIncomingBlock(i);
      if (!llvm::is_contained(blocks, from)) continue;
      llvm::Value* value = phi.getIncomingValue(i);
      const auto copied = map.find(value);
      phi.addIncoming(copied == map.end() ? value : static_cast<llvm::Value*>(copied->second),
                      llvm::cast<llvm::BasicBlock>(map[from]));
    }
  }
  auto* some = llvm::BasicBlock::Create(function_.getContext(), "lane.some", &function_, arm.first);
  auto* branch = llvm::cast<llvm::BranchInst>(block->getTerminator());
  llvm::Value* condition = branch->getCondition();
  mark_rest(branch);
  branch->moveBefore(*some, some->end());
  arm.first->replacePhiUsesWith(block, some);
  arm.join->replacePhiUsesWith(block, some);
  llvm::IRBuilder<> builder(block);
  if (!arm.on_true) condition = builder.CreateNot(condition);
  builder.CreateCondBr(all_lanes(builder, condition), llvm::cast<llvm::BasicBlock>(map[arm.first]), some);
}

/// The `if` of which a loop is all that it guards, at its start. Without one, `arm.first` is null.
struct LoopGuard {
  llvm::BasicBlock* block = nullptr;
  Arm arm;
};

// The pieces of the rewritten loop; `enter` and `skipped` only if the loop stands right inside an `if (c)`:
//
//   enter:   if (all lanes: c) run the copy           copy: passes while (all lanes: stays)
//   middle:  phis of both ways; if (goes on) run the masked loop
//   after:   values of those that left in either; if (c) exit else join
class LoopCopy {
 public:
  LoopCopy(llvm::Function& function, llvm::Loop& loop, const LoopGuard& guard)
      : function_(function),
        loop_(loop),
        guard_(guard),
        before_(loop.getLoopPreheader()),
        header_(loop.getHeader()),
        latch_(loop.getLoopLatch()),
        exit_(loop.getExitBlock()),
        branch_(llvm::cast<llvm::BranchInst>(latch_->getTerminator())) {}

  void run() {
    copy();
    enter();
    hand_over();
    leave();
  }

 private:
  llvm::Value* copy_of(llvm::Value* value) const {
    const auto found = map_.find(value);
    return found == map_.end() ? value : static_cast<llvm::Value*>(found->second);
  }
  llvm::BasicBlock* make_block(const char* name, llvm::BasicBlock* before) {
    return llvm::BasicBlock::Create(function_.getContext(), name, &function_, before);
  }

  /// The copy goes on while no lane wants to leave.
  void copy() {
    const llvm::SmallVector<llvm::BasicBlock*, 16> blocks(loop_.block_begin(), loop_.block_end());
    copy_blocks(function_, blocks, map_);
    copied_latch_ = llvm::cast<llvm::BasicBlock>(copy_of(latch_));
    copied_header_ = llvm::cast<llvm::BasicBlock>(copy_of(header_));
    middle_ = make_block("lane.middle", header_);
    masked_ = make_block("lane.masked", header_);
    done_ = make_block("lane.done", exit_);
    after_ = make_block("lane.after", exit_);
    llvm::IRBuilder<> builder(copied_latch_->getTerminator());
    stays_ = copy_of(branch_->getCondition());
    if (branch_->getSuccessor(0) != header_) stays_ = builder.CreateNot(stays_);
    llvm::Instruction* old_end = copied_latch_->getTerminator();
    builder.CreateCondBr(all_lanes(builder, stays_), copied_header_, middle_);
    old_end->eraseFromParent();
  }

  /// How the masked loop is reached: from the copy, and past it.
  void enter() {
    if (!guard_.arm.first) {
      before_->getTerminator()->replaceSuccessorWith(header_, copied_header_);
      return;
    }
    past_ = make_block("lane.enter", before_);
    auto* decision = llvm::cast<llvm::BranchInst>(guard_.block->getTerminator());
    llvm::IRBuilder<> builder(decision);
    enters_ = guard_.arm.on_true ? decision->getCondition() : builder.CreateNot(decision->getCondition());
    // What stands between the guard and the loop is an arm of its own.
    decision->replaceSuccessorWith(guard_.arm.join, past_);
    before_->getTerminator()->replaceSuccessorWith(header_, past_);
    builder.SetInsertPoint(past_);
    llvm::BasicBlock* start = make_block("lane.start", copied_header_);
    builder.CreateCondBr(all_lanes(builder, enters_), start, middle_);
    llvm::IRBuilder<>(start).CreateBr(copied_header_);
    for (llvm::PHINode& phi : copied_header_->phis()) phi.replaceIncomingBlockWith(before_, start);
  }

  /// A value in `middle`: of those that came past the copy, and of those that came from it.
  llvm::Value* meet(llvm::IRBuilder<>& builder, llvm::Value* from_past, llvm::Value* from_copy) {
    if (!past_) return from_copy;
    llvm::PHINode* phi = builder.CreatePHI(from_copy->getType(), 2);
    phi->addIncoming(from_past, past_);
    phi->addIncoming(from_copy, copied_latch_);
    return phi;
  }

  void hand_over() {
    llvm::IRBuilder<> builder(middle_);
    llvm::Value* goes_on = meet(builder, enters_, stays_);
    for (llvm::PHINode& phi : header_->phis()) {
      llvm::Value* state =
          meet(builder, phi.getIncomingValueForBlock(before_), copy_of(phi.getIncomingValueForBlock(latch_)));
      phi.setIncomingValueForBlock(before_, state);
      phi.replaceIncomingBlockWith(before_, masked_);
    }
    for (llvm::PHINode& phi : exit_->phis())
      left_in_copy_.push_back(meet(builder, llvm::UndefValue::get(phi.getType()), copy_of(phi.getIncomingValue(0))));
    builder.CreateCondBr(goes_on, masked_, after_);
    llvm::IRBuilder<>(masked_).CreateBr(header_);
  }

  void leave() {
    mark_rest(branch_);
    branch_->replaceSuccessorWith(exit_, done_);
    llvm::IRBuilder<>(done_).CreateBr(after_);
    llvm::IRBuilder<> builder(after_);
    size_t at = 0;
    for (llvm::PHINode& phi : exit_->phis()) {
      llvm::PHINode* either = builder.CreatePHI(phi.getType(), 2);
      either->addIncoming(left_in_copy_[at++], middle_);
      either->addIncoming(phi.getIncomingValue(0), done_);
      phi.setIncomingValue(0, either);
      phi.setIncomingBlock(0, after_);
    }
    if (guard_.arm.first) {
      builder.CreateCondBr(enters_, exit_, guard_.arm.join);
      guard_.arm.join->replacePhiUsesWith(guard_.block, after_);
    } else {
      builder.CreateBr(exit_);
    }
  }

  llvm::Function& function_;
  llvm::Loop& loop_;
  const LoopGuard& guard_;
  llvm::BasicBlock *before_, *header_, *latch_, *exit_;
  llvm::BranchInst* branch_;
  llvm::ValueToValueMapTy map_;
  llvm::BasicBlock *copied_latch_ = nullptr, *copied_header_ = nullptr;
  llvm::BasicBlock *middle_ = nullptr, *masked_ = nullptr, *done_ = nullptr, *after_ = nullptr, *past_ = nullptr;
  llvm::Value *stays_ = nullptr, *enters_ = nullptr;
  llvm::SmallVector<llvm::Value*, 8> left_in_copy_;
};

bool Specialiser::copy_loop(const Analysis& analysis, llvm::Loop& loop) {
  llvm::BasicBlock* before = loop.getLoopPreheader();
  LoopGuard guard{before->getSinglePredecessor(), {}};
  if (!all_lanes_reach(analysis, before)) {
    const Level& outer = analysis.levels->of(loop.getParentLoop());
    if (!guard.block || !analysis.shapes->divergent(guard.block) || !all_lanes_reach(analysis, guard.block))
      return false;
    const unsigned node = analysis.levels->node_of(outer, guard.block);
    if (node == outer.end() || outer.nodes[node].block != guard.block) return false;
    guard.arm = arm_of(outer, node);
    if (guard.arm.first != before) return false;
    auto* decision = llvm::cast<llvm::BranchInst>(guard.block->getTerminator());
    if (!usually_agree(analysis, decision->getCondition())) return false;
  }
  LoopCopy(function_, loop, guard).run();
  return true;
}

bool Specialiser::step() {
  const Analysis analysis(function_, arguments_, lanes_);
  const auto& levels = analysis.levels->inner_first();
  // Outer loops first: only their copies keep all lanes for the loops inside.
  for (const Level& level : llvm::reverse(levels)) {
    if (!level.loop || !analysis.shapes->divergent(level.loop)) continue;
    auto* end = llvm::cast<llvm::BranchInst>(level.loop->getLoopLatch()->getTerminator());
    if (end->getMetadata(kRest) || !usually_agree(analysis, end->getCondition())) continue;
    if (!can_copy(level.loop->getBlocks(), kLargestLoop)) continue;
    if (copy_loop(analysis, *level.loop)) return true;
  }
  for (const Level& level : llvm::reverse(levels)) {
    for (unsigned node = 0; node < level.end(); ++node) {
      const LevelNode& at = level.nodes[node];
      if (!at.block || !analysis.shapes->divergent(at.block)) continue;
      const Arm arm = arm_of(level, node);
      auto* branch = llvm::dyn_cast<llvm::BranchInst>(at.block->getTerminator());
      if (!arm.first || !branch || branch->getMetadata(kRest)) continue;
      if (!usually_agree(analysis, branch->getCondition())) continue;
      llvm::SmallVector<llvm::BasicBlock*, 16> blocks;
      bool has_loop = false;
      for (unsigned inside : level.region(node)) {
        if (level.nodes[inside].block) blocks.push_back(level.nodes[inside].block);
        if (!level.nodes[inside].loop) continue;
        has_loop = true;
        llvm::append_range(blocks, level.nodes[inside].loop->blocks());
      }
      if (!has_loop && (!spread_ || !has_many_accesses(blocks))) continue;
      if (!can_copy(blocks, has_loop ? kLargestArm : kLargestStraightArm) || !all_lanes_reach(analysis, at.block))
        continue;
      copy_arm(analysis, level, node, arm);
      return true;
    }
  }
  return false;
}

bool Specialiser::run() {
  bool changed = false;
  for (unsigned copies = 0; copies < kMostCopies && step(); ++copies) {
    changed = true;
    Variables(function_).promote();  // values that some way round no longer computes
    run_passes(function_, "loop-simplify,lcssa");
  }
  return changed;
}

}  // namespace

size_t memory_accesses(const llvm::BasicBlock& block) {
  return static_cast<size_t>(llvm::count_if(
      block, [](const llvm::Instruction& one) { return llvm::isa<llvm::LoadInst, llvm::StoreInst>(one); }));
}

bool specialise(llvm::Function& function, llvm::ArrayRef<Shape> arguments, unsigned lanes, bool spread) {
  return Specialiser(function, arguments, lanes, spread).run();
}

}  // namespace smelt::aot::cpu::lanes
