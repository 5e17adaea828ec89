// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/control_flow.hpp"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::cpu::lanes {
namespace {

llvm::Value* narrow(GangContext& gang, llvm::Value* mask, llvm::Value* condition) {
  if (!mask) return condition;
  return gang.builder.CreateSelect(mask, condition, llvm::ConstantInt::getFalse(condition->getType()), "narrow");
}

// The blocks through which lanes came that go on together from `from` to `block`, outermost first: lanes that skipped
// an arm, lanes that skipped an arm inside it, and so on, and at last those that are in `from`.
llvm::SmallVector<llvm::BasicBlock*, 4> ways_in(const Analysis& analysis, llvm::BasicBlock* block,
                                                llvm::BasicBlock* from) {
  llvm::SmallVector<llvm::BasicBlock*, 4> ways;
  const llvm::BasicBlock* top = analysis.dominators->getNode(block)->getIDom()->getBlock();
  for (const auto* node = analysis.dominators->getNode(from); node; node = node->getIDom()) {
    llvm::BasicBlock* at = node->getBlock();
    const bool skipped = analysis.shapes->divergent(at) && llvm::is_contained(llvm::successors(at), block);
    if (at == from || skipped) ways.push_back(at);
    if (at == top) break;
  }
  std::reverse(ways.begin(), ways.end());
  return ways;
}

}  // namespace

std::vector<llvm::BasicBlock*> ControlFlow::create_blocks() {
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&gang_.source);
  for (llvm::BasicBlock* block : order) {
    first_[block] = llvm::BasicBlock::Create(builder_.getContext(), block->getName(), &gang_.target);
  }
  builder_.CreateBr(first_[&gang_.source.getEntryBlock()]);
  return {order.begin(), order.end()};
}

void ControlFlow::open(llvm::BasicBlock* block) {
  builder_.SetInsertPoint(first_[block]);
  llvm::Loop* loop = gang_.analysis.loops->getLoopFor(block);
  if (loop && loop->getHeader() == block && gang_.analysis.shapes->divergent(loop)) open_divergent_loop(loop);
  create_phis(block);
  gang_.set_block_mask(mask_[block] = mask_of(block));
}

void ControlFlow::close(llvm::BasicBlock* block) {
  emit_terminator(block);
  last_[block] = builder_.GetInsertBlock();
}

llvm::Value* ControlFlow::mask_of(llvm::BasicBlock* block) {
  if (block == &gang_.source.getEntryBlock()) return gang_.entry_mask();
  llvm::Loop* loop = gang_.analysis.loops->getLoopFor(block);
  if (loop && loop->getHeader() == block) {
    if (const auto state = divergent_loops_.find(loop); state != divergent_loops_.end()) return state->second.mask;
    return mask_.lookup(loop->getLoopPreheader());
  }
  if (llvm::Value* arm = arm_mask_.lookup(block)) return arm;
  llvm::BasicBlock* above = gang_.analysis.dominators->getNode(block)->getIDom()->getBlock();
  // Behind a loop all lanes are together again that went in.
  if (llvm::Loop* left = gang_.analysis.loops->getLoopFor(above); left && !left->contains(block)) {
    while (left->getParentLoop() && !left->getParentLoop()->contains(block)) left = left->getParentLoop();
    return mask_.lookup(left->getLoopPreheader());
  }
  return mask_.lookup(above);
}

llvm::Loop* ControlFlow::divergent_loop_left_at(llvm::BasicBlock* block) const {
  llvm::BasicBlock* from = block->getSinglePredecessor();
  llvm::Loop* loop = from ? gang_.analysis.loops->getLoopFor(from) : nullptr;
  return loop && !loop->contains(block) && divergent_loops_.contains(loop) ? loop : nullptr;
}

void ControlFlow::open_divergent_loop(llvm::Loop* loop) {
  LoopState& state = divergent_loops_[loop];
  state.mask = builder_.CreatePHI(gang_.wide(builder_.getInt1Ty()), 2, "mask");
  llvm::BasicBlock* latch = loop->getLoopLatch();
  for (llvm::PHINode& phi : loop->getExitBlock()->phis()) {
    llvm::Value* value = phi.getIncomingValue(0);
    const auto* inside = llvm::dyn_cast<llvm::Instruction>(value);
    if (!inside || !loop->contains(inside)) continue;
    LoopState::Leaving leaving{&phi, value, nullptr, {}};
    for (llvm::PHINode& header_phi : loop->getHeader()->phis()) {
      const bool same_form = gang_.shape(&header_phi).is_varying() || gang_.shape(&header_phi).is_matrix();
      if (same_form && header_phi.getIncomingValueForBlock(latch) == value) leaving.header_phi = &header_phi;
    }
    if (!leaving.header_phi) {
      if (is_matrix_type(phi.getType())) {
        leaving.kept.push_back(builder_.CreatePHI(phi.getType(), 2, "left"));
      } else {
        for (const LaneLayout::Field& field : layout_of(phi.getType(), gang_.layout).fields) {
          leaving.kept.push_back(builder_.CreatePHI(gang_.wide(field.type), 2, "left"));
        }
      }
    }
    state.leaving.push_back(std::move(leaving));
  }
}

void ControlFlow::create_phis(llvm::BasicBlock* block) {
  llvm::Loop* left = divergent_loop_left_at(block);
  for (llvm::PHINode& phi : block->phis()) {
    const Shape form = gang_.shape(&phi);
    if (left) {
      // Values from inside the loop were set when it was closed.
      llvm::Value* value = phi.getIncomingValue(0);
      const auto* inside = llvm::dyn_cast<llvm::Instruction>(value);
      if (inside && left->contains(inside)) continue;
      if (form.is_varying()) {
        gang_.set_parts(&phi, gang_.parts(value));
      } else {
        gang_.set_scalar(&phi, form.is_matrix() ? gang_.matrix(value) : gang_.scalar(value));
      }
      continue;
    }
    if (!form.is_varying()) {
      gang_.set_scalar(&phi, builder_.CreatePHI(phi.getType(), phi.getNumIncomingValues()));
      continue;
    }
    Parts forms;
    for (const LaneLayout::Field& field : layout_of(phi.getType(), gang_.layout).fields) {
      forms.push_back(builder_.CreatePHI(gang_.wide(field.type), phi.getNumIncomingValues()));
    }
    gang_.set_parts(&phi, std::move(forms));
  }
}

void ControlFlow::emit_terminator(llvm::BasicBlock* block) {
  llvm::Instruction* end = block->getTerminator();
  if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(end)) {
    auto* copy = builder_.CreateSwitch(gang_.scalar(choice->getCondition()), first_[choice->getDefaultDest()]);
    for (const auto& one : choice->cases()) copy->addCase(one.getCaseValue(), first_[one.getCaseSuccessor()]);
    return;
  }
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(end);
  if (!branch) {
    builder_.CreateRetVoid();
  } else if (branch->isUnconditional()) {
    builder_.CreateBr(first_[branch->getSuccessor(0)]);
  } else if (!gang_.analysis.shapes->divergent(block)) {
    builder_.CreateCondBr(gang_.scalar(branch->getCondition()), first_[branch->getSuccessor(0)],
                          first_[branch->getSuccessor(1)]);
  } else {
    emit_divergent_branch(block, branch);
  }
}

void ControlFlow::emit_divergent_branch(llvm::BasicBlock* block, llvm::BranchInst* branch) {
  llvm::Loop* loop = gang_.analysis.loops->getLoopFor(block);
  if (loop && loop->isLoopExiting(block)) return close_divergent_loop(loop, branch);
  const Level& level = gang_.analysis.levels->of(loop);
  const Arm arm = arm_of(level, gang_.analysis.levels->node_of(level, block));
  llvm::Value* condition = gang_.part(branch->getCondition());
  if (!arm.on_true) condition = builder_.CreateNot(condition);
  llvm::Value* inside = narrow(gang_, gang_.mask(), condition);
  arm_mask_[arm.first] = inside;
  builder_.CreateCondBr(gang_.any(inside), first_[arm.first], first_[arm.join]);
}

void ControlFlow::close_divergent_loop(llvm::Loop* loop, llvm::BranchInst* branch) {
  LoopState& state = divergent_loops_[loop];
  llvm::BasicBlock* before = loop->getLoopPreheader();
  llvm::Value* on = gang_.mask();
  llvm::Value* staying = gang_.part(branch->getCondition());
  if (branch->getSuccessor(0) != loop->getHeader()) staying = builder_.CreateNot(staying);
  for (LoopState::Leaving& leaving : state.leaving) {
    const bool is_matrix = is_matrix_type(leaving.value->getType());
    Parts now = is_matrix ? Parts{gang_.matrix(leaving.value)} : gang_.parts(leaving.value);
    for (size_t i = 0; i < now.size(); ++i) {
      llvm::Value* old = leaving.kept.empty() ? nullptr : leaving.kept[i];
      if (!old) old = is_matrix ? gang_.scalar(leaving.header_phi) : gang_.parts(leaving.header_phi)[i];
      now[i] = is_matrix ? gang_.blend_matrix(on, now[i], old) : gang_.blend(on, now[i], old);
      now[i]->setName("kept");
      if (leaving.kept.empty()) continue;
      leaving.kept[i]->addIncoming(llvm::PoisonValue::get(old->getType()), last_[before]);
      leaving.kept[i]->addIncoming(now[i], builder_.GetInsertBlock());
    }
    if (leaving.header_phi) blended_next_[leaving.header_phi] = now;
    if (is_matrix) {
      gang_.set_scalar(leaving.exit_phi, now.front());
    } else {
      gang_.set_parts(leaving.exit_phi, now);
    }
  }
  llvm::Value* next = narrow(gang_, on, staying);
  llvm::Value* entered = mask_.lookup(before);
  state.mask->addIncoming(entered ? entered : gang_.all_on(), last_[before]);
  state.mask->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(gang_.any(next), first_[loop->getHeader()], first_[loop->getExitBlock()]);
}

Parts ControlFlow::incoming_parts(llvm::PHINode& phi, llvm::BasicBlock* from) {
  llvm::Loop* loop = gang_.analysis.loops->getLoopFor(phi.getParent());
  if (loop && loop->getHeader() == phi.getParent()) {
    const auto kept = blended_next_.find(&phi);
    if (kept != blended_next_.end() && loop->getLoopLatch() == from) return kept->second;
    return gang_.parts(phi.getIncomingValueForBlock(from));
  }
  Parts result;
  for (llvm::BasicBlock* way : ways_in(gang_.analysis, phi.getParent(), from)) {
    llvm::Value* value = phi.getIncomingValueForBlock(way);
    if (llvm::isa<llvm::UndefValue>(value)) continue;
    const Parts on = gang_.parts(value);
    if (result.empty()) result = on;
    for (size_t i = 0; i < on.size(); ++i) result[i] = gang_.blend(mask_[way], on[i], result[i]);
  }
  if (result.empty()) {
    for (llvm::Value* form : gang_.parts(&phi)) result.push_back(llvm::Constant::getNullValue(form->getType()));
  }
  return result;
}

// Where lanes meet again, they have one value. The way through an arm may leave it undefined, and the lanes that
// skipped the arm still need theirs.
llvm::Value* ControlFlow::incoming_scalar(llvm::PHINode& phi, llvm::BasicBlock* from) {
  llvm::Value* value = phi.getIncomingValueForBlock(from);
  if (llvm::isa<llvm::UndefValue>(value) && gang_.analysis.shapes->is_join(phi.getParent()))
    for (llvm::BasicBlock* way : ways_in(gang_.analysis, phi.getParent(), from))
      if (llvm::isa<llvm::UndefValue>(value)) value = phi.getIncomingValueForBlock(way);
  return gang_.scalar(value);
}

llvm::Value* ControlFlow::incoming_matrix(llvm::PHINode& phi, llvm::BasicBlock* from) {
  llvm::Loop* loop = gang_.analysis.loops->getLoopFor(phi.getParent());
  if (loop && loop->getHeader() == phi.getParent()) {
    const auto kept = blended_next_.find(&phi);
    if (kept != blended_next_.end() && loop->getLoopLatch() == from) return kept->second.front();
    return gang_.matrix(phi.getIncomingValueForBlock(from));
  }
  llvm::Value* result = nullptr;
  for (llvm::BasicBlock* way : ways_in(gang_.analysis, phi.getParent(), from)) {
    llvm::Value* value = phi.getIncomingValueForBlock(way);
    if (llvm::isa<llvm::UndefValue>(value)) continue;
    result = result ? gang_.blend_matrix(mask_[way], gang_.matrix(value), result) : gang_.matrix(value);
  }
  return result ? result : llvm::Constant::getNullValue(phi.getType());
}

void ControlFlow::connect_phis(llvm::BasicBlock* block) {
  if (divergent_loop_left_at(block)) return;
  for (llvm::PHINode& phi : block->phis()) {
    const Shape form = gang_.shape(&phi);
    for (llvm::BasicBlock* from : llvm::predecessors(block)) {
      gang_.return_to(last_[from]);
      if (form.is_varying()) {
        // A switch may lead here by several edges; they all carry the same value.
        const Parts copies = gang_.parts(&phi);
        auto* first = llvm::cast<llvm::PHINode>(copies.front());
        const bool again = first->getBasicBlockIndex(last_[from]) >= 0;
        const Parts values = again ? Parts() : incoming_parts(phi, from);
        for (size_t i = 0; i < copies.size(); ++i) {
          auto* copy = llvm::cast<llvm::PHINode>(copies[i]);
          copy->addIncoming(again ? copy->getIncomingValueForBlock(last_[from]) : values[i], last_[from]);
        }
        continue;
      }
      llvm::Value* value = form.is_matrix() ? incoming_matrix(phi, from) : incoming_scalar(phi, from);
      llvm::cast<llvm::PHINode>(gang_.scalar(&phi))->addIncoming(value, last_[from]);
    }
  }
}

}  // namespace smelt::aot::cpu::lanes
