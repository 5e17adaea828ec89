#include "cpu/lanes/specialise.hpp"

#include "cpu/lanes/rewrite.hpp"
#include "cpu/lanes/structure.hpp"
#include "cpu/lower/collectives.hpp"

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
constexpr unsigned kMostCopies = 12;
// On the branch of what is left for lanes that disagree: it is not copied again.
constexpr const char* kRest = "smelt.lane_rest";

void mark_rest(llvm::BranchInst* branch) {
  branch->setMetadata(kRest, llvm::MDNode::get(branch->getContext(), {}));
}

class Specialiser {
 public:
  Specialiser(llvm::Function& function, llvm::ArrayRef<Shape> arguments, unsigned lanes)
      : function_(function), arguments_(arguments), lanes_(lanes) {}

  bool run();

 private:
  bool step();
  bool all_lanes_reach(const Analysis& analysis, llvm::BasicBlock* block) const;
  bool usually_agree(const Analysis& analysis, llvm::Value* condition, unsigned depth = 0) const;
  bool copy_loop(const Analysis& analysis, llvm::Loop& loop);
  void copy_arm(const Analysis& analysis, const Level& level, unsigned node, const Arm& arm);
  llvm::Value* all_lanes(llvm::IRBuilder<>& builder, llvm::Value* condition);
  void copy_blocks(llvm::ArrayRef<llvm::BasicBlock*> blocks, llvm::ValueToValueMapTy& map);

  llvm::Function& function_;
  llvm::ArrayRef<Shape> arguments_;
  unsigned lanes_;
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
    return (a.is_linear() && !b.is_varying()) || (b.is_linear() && !a.is_varying());
  }
  if (!instruction->isBitwiseLogicOp() && !llvm::isa<llvm::SelectInst>(instruction)) return false;
  return llvm::all_of(instruction->operands(),
                      [&](const llvm::Use& use) { return usually_agree(analysis, use, depth + 1); });
}

llvm::Value* Specialiser::all_lanes(llvm::IRBuilder<>& builder, llvm::Value* condition) {
  llvm::FunctionCallee callee = function_.getParent()->getOrInsertFunction(
      kAllLanes, llvm::FunctionType::get(builder.getInt1Ty(), {builder.getInt1Ty()}, false));
  llvm::CallInst* call = builder.CreateCall(callee, {condition});
  call->setConvergent();
  return call;
}

void Specialiser::copy_blocks(llvm::ArrayRef<llvm::BasicBlock*> blocks, llvm::ValueToValueMapTy& map) {
  llvm::SmallVector<llvm::BasicBlock*, 16> copies;
  for (llvm::BasicBlock* block : blocks) {
    copies.push_back(llvm::CloneBasicBlock(block, map, ".all", &function_));
    map[block] = copies.back();
  }
  llvm::remapInstructionsInBlocks(copies, map);
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
  copy_blocks(blocks, map);
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

// The pieces of the rewritten loop; `enter` and `skipped` only if the loop stands right inside an `if (c)`:
//
//   enter:   if (all lanes: c) run the copy           copy: passes while (all lanes: stays)
//   middle:  phis of both ways; if (goes on) run the masked loop
//   after:   values of those that left in either; if (c) exit else join
bool Specialiser::copy_loop(const Analysis& analysis, llvm::Loop& loop) {
  llvm::LLVMContext& context = function_.getContext();
  llvm::BasicBlock* before = loop.getLoopPreheader();
  llvm::BasicBlock* header = loop.getHeader();
  llvm::BasicBlock* latch = loop.getLoopLatch();
  llvm::BasicBlock* exit = loop.getExitBlock();
  auto* branch = llvm::cast<llvm::BranchInst>(latch->getTerminator());
  const bool stays_on_true = branch->getSuccessor(0) == header;

  // Is the loop all that an `if` guards, at its start?
  Arm arm;
  llvm::BasicBlock* guard = before->getSinglePredecessor();
  const Level& outer = analysis.levels->of(loop.getParentLoop());
  if (!all_lanes_reach(analysis, before)) {
    if (!guard || !analysis.shapes->divergent(guard) || !all_lanes_reach(analysis, guard)) return false;
    const unsigned node = analysis.levels->node_of(outer, guard);
    if (node == outer.end() || outer.nodes[node].block != guard) return false;
    arm = arm_of(outer, node);
    if (arm.first != before) return false;
    auto* decision = llvm::cast<llvm::BranchInst>(guard->getTerminator());
    if (!usually_agree(analysis, decision->getCondition())) return false;
  }

  llvm::SmallVector<llvm::BasicBlock*, 16> blocks(loop.block_begin(), loop.block_end());
  llvm::ValueToValueMapTy map;
  copy_blocks(blocks, map);
  const auto copy_of = [&](llvm::Value* value) -> llvm::Value* {
    const auto found = map.find(value);
    return found == map.end() ? value : static_cast<llvm::Value*>(found->second);
  };
  auto* copied_latch = llvm::cast<llvm::BasicBlock>(copy_of(latch));
  auto* copied_header = llvm::cast<llvm::BasicBlock>(copy_of(header));
  auto* middle = llvm::BasicBlock::Create(context, "lane.middle", &function_, header);
  auto* masked = llvm::BasicBlock::Create(context, "lane.masked", &function_, header);
  auto* done = llvm::BasicBlock::Create(context, "lane.done", &function_, exit);
  auto* after = llvm::BasicBlock::Create(context, "lane.after", &function_, exit);

  // The copy goes on while no lane wants to leave.
  llvm::IRBuilder<> builder(copied_latch->getTerminator());
  llvm::Value* stays = copy_of(branch->getCondition());
  if (!stays_on_true) stays = builder.CreateNot(stays);
  llvm::Instruction* old_end = copied_latch->getTerminator();
  builder.CreateCondBr(all_lanes(builder, stays), copied_header, middle);
  old_end->eraseFromParent();

  // How the masked loop is reached: from the copy, and past it.
  llvm::BasicBlock* past = nullptr;
  llvm::Value* enters = nullptr;
  if (arm.first) {
    past = llvm::BasicBlock::Create(context, "lane.enter", &function_, before);
    auto* decision = llvm::cast<llvm::BranchInst>(guard->getTerminator());
    builder.SetInsertPoint(decision);
    enters = arm.on_true ? decision->getCondition() : builder.CreateNot(decision->getCondition());
    // What stands between the guard and the loop is an arm of its own.
    decision->replaceSuccessorWith(arm.join, past);
    before->getTerminator()->replaceSuccessorWith(header, past);
    builder.SetInsertPoint(past);
    auto* start = llvm::BasicBlock::Create(context, "lane.start", &function_, copied_header);
    builder.CreateCondBr(all_lanes(builder, enters), start, middle);
    llvm::IRBuilder<>(start).CreateBr(copied_header);
    for (llvm::PHINode& phi : copied_header->phis()) phi.replaceIncomingBlockWith(before, start);
  } else {
    before->getTerminator()->replaceSuccessorWith(header, copied_header);
  }
  builder.SetInsertPoint(middle);
  const auto meet = [&](llvm::Value* from_past, llvm::Value* from_copy) -> llvm::Value* {
    if (!past) return from_copy;
    llvm::PHINode* phi = builder.CreatePHI(from_copy->getType(), 2);
    phi->addIncoming(from_past, past);
    phi->addIncoming(from_copy, copied_latch);
    return phi;
  };
  llvm::Value* goes_on = meet(enters, stays);
  for (llvm::PHINode& phi : header->phis()) {
    llvm::Value* state = meet(phi.getIncomingValueForBlock(before), copy_of(phi.getIncomingValueForBlock(latch)));
    phi.setIncomingValueForBlock(before, state);
    phi.replaceIncomingBlockWith(before, masked);
  }
  llvm::SmallVector<llvm::Value*, 8> left_in_copy;
  for (llvm::PHINode& phi : exit->phis()) {
    left_in_copy.push_back(meet(llvm::UndefValue::get(phi.getType()), copy_of(phi.getIncomingValue(0))));
  }
  builder.CreateCondBr(goes_on, masked, after);
  llvm::IRBuilder<>(masked).CreateBr(header);

  mark_rest(branch);
  branch->replaceSuccessorWith(exit, done);
  llvm::IRBuilder<>(done).CreateBr(after);
  builder.SetInsertPoint(after);
  size_t at = 0;
  for (llvm::PHINode& phi : exit->phis()) {
    llvm::PHINode* either = builder.CreatePHI(phi.getType(), 2);
    either->addIncoming(left_in_copy[at++], middle);
    either->addIncoming(phi.getIncomingValue(0), done);
    phi.setIncomingValue(0, either);
    phi.setIncomingBlock(0, after);
  }
  if (arm.first) {
    builder.CreateCondBr(enters, exit, arm.join);
    arm.join->replacePhiUsesWith(guard, after);
  } else {
    builder.CreateBr(exit);
  }
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
      if (!has_loop || !can_copy(blocks, kLargestArm) || !all_lanes_reach(analysis, at.block)) continue;
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

bool specialise(llvm::Function& function, llvm::ArrayRef<Shape> arguments, unsigned lanes) {
  return Specialiser(function, arguments, lanes).run();
}

}  // namespace smelt::aot::cpu::lanes
