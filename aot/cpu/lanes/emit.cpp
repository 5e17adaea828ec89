// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks, phis and terminators of the gang's function. See emit.hpp.
#include "lanes/emit.hpp"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::cpu::lanes {

Emitter::Emitter(llvm::Function& source, llvm::Function& target, const Analysis& analysis, const EmitOptions& options)
    : source_(source),
      target_(target),
      analysis_(analysis),
      options_(options),
      layout_(source.getParent()->getDataLayout()),
      context_(source.getContext()),
      builder_(llvm::BasicBlock::Create(source.getContext(), "gang", &target)) {}

void Emitter::run() {
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&source_);
  for (llvm::BasicBlock* block : order) {
    first_[block] = llvm::BasicBlock::Create(context_, block->getName(), &target_);
  }
  builder_.CreateBr(first_[&source_.getEntryBlock()]);
  for (llvm::BasicBlock* block : order) emit_block(block);
  for (llvm::BasicBlock* block : order) connect_phis(block);
  drop_unused_matrix_loads();
}

void Emitter::emit_block(llvm::BasicBlock* block) {
  block_ = block;
  builder_.SetInsertPoint(first_[block]);
  llvm::Loop* loop = analysis_.loops->getLoopFor(block);
  if (loop && loop->getHeader() == block && analysis_.shapes->divergent(loop)) open_divergent_loop(loop);
  create_phis(block);
  mask_[block] = mask_of(block);
  for (llvm::Instruction& instruction : *block) {
    if (!llvm::isa<llvm::PHINode>(instruction) && !instruction.isTerminator()) emit(instruction);
  }
  emit_terminator(block);
  last_[block] = builder_.GetInsertBlock();
}

llvm::Value* Emitter::mask_of(llvm::BasicBlock* block) {
  if (block == &source_.getEntryBlock()) return entry_mask_;
  llvm::Loop* loop = analysis_.loops->getLoopFor(block);
  if (loop && loop->getHeader() == block) {
    if (const auto state = divergent_loops_.find(loop); state != divergent_loops_.end()) return state->second.mask;
    return mask_.lookup(loop->getLoopPreheader());
  }
  if (llvm::Value* arm = arm_mask_.lookup(block)) return arm;
  llvm::BasicBlock* above = analysis_.dominators->getNode(block)->getIDom()->getBlock();
  // Behind a loop all lanes are together again that went in.
  if (llvm::Loop* left = analysis_.loops->getLoopFor(above); left && !left->contains(block)) {
    while (left->getParentLoop() && !left->getParentLoop()->contains(block)) left = left->getParentLoop();
    return mask_.lookup(left->getLoopPreheader());
  }
  return mask_.lookup(above);
}

llvm::Loop* Emitter::divergent_loop_left_at(llvm::BasicBlock* block) const {
  llvm::BasicBlock* from = block->getSinglePredecessor();
  llvm::Loop* loop = from ? analysis_.loops->getLoopFor(from) : nullptr;
  return loop && !loop->contains(block) && divergent_loops_.contains(loop) ? loop : nullptr;
}

void Emitter::open_divergent_loop(llvm::Loop* loop) {
  LoopState& state = divergent_loops_[loop];
  state.mask = builder_.CreatePHI(wide(builder_.getInt1Ty()), 2, "mask");
  llvm::BasicBlock* latch = loop->getLoopLatch();
  for (llvm::PHINode& phi : loop->getExitBlock()->phis()) {
    llvm::Value* value = phi.getIncomingValue(0);
    const auto* inside = llvm::dyn_cast<llvm::Instruction>(value);
    if (!inside || !loop->contains(inside)) continue;
    LoopState::Leaving leaving{&phi, value, nullptr, {}};
    for (llvm::PHINode& header_phi : loop->getHeader()->phis()) {
      const bool same_form = shape(&header_phi).is_varying() || shape(&header_phi).is_matrix();
      if (same_form && header_phi.getIncomingValueForBlock(latch) == value) leaving.header_phi = &header_phi;
    }
    if (!leaving.header_phi) {
      if (is_matrix_type(phi.getType())) {
        leaving.kept.push_back(builder_.CreatePHI(phi.getType(), 2, "left"));
      } else {
        for (const LaneLayout::Field& field : layout_of(phi.getType(), layout_).fields) {
          leaving.kept.push_back(builder_.CreatePHI(wide(field.type), 2, "left"));
        }
      }
    }
    state.leaving.push_back(std::move(leaving));
  }
}

void Emitter::create_phis(llvm::BasicBlock* block) {
  llvm::Loop* left = divergent_loop_left_at(block);
  for (llvm::PHINode& phi : block->phis()) {
    const Shape form = shape(&phi);
    if (left) {
      // Values from inside the loop were set when it was closed.
      llvm::Value* value = phi.getIncomingValue(0);
      const auto* inside = llvm::dyn_cast<llvm::Instruction>(value);
      if (inside && left->contains(inside)) continue;
      if (form.is_varying()) {
        parts_[&phi] = parts(value);
      } else {
        scalars_[&phi] = form.is_matrix() ? matrix(value) : scalar(value);
      }
      continue;
    }
    if (!form.is_varying()) {
      scalars_[&phi] = builder_.CreatePHI(phi.getType(), phi.getNumIncomingValues());
      continue;
    }
    Parts& forms = parts_[&phi];
    for (const LaneLayout::Field& field : layout_of(phi.getType(), layout_).fields) {
      forms.push_back(builder_.CreatePHI(wide(field.type), phi.getNumIncomingValues()));
    }
  }
}

void Emitter::emit_terminator(llvm::BasicBlock* block) {
  llvm::Instruction* end = block->getTerminator();
  if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(end)) {
    auto* copy = builder_.CreateSwitch(scalar(choice->getCondition()), first_[choice->getDefaultDest()]);
    for (const auto& one : choice->cases()) copy->addCase(one.getCaseValue(), first_[one.getCaseSuccessor()]);
    return;
  }
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(end);
  if (!branch) {
    if (result_) store_result(llvm::cast<llvm::ReturnInst>(end)->getReturnValue());
    builder_.CreateRetVoid();
  } else if (branch->isUnconditional()) {
    builder_.CreateBr(first_[branch->getSuccessor(0)]);
  } else if (!analysis_.shapes->divergent(block)) {
    builder_.CreateCondBr(scalar(branch->getCondition()), first_[branch->getSuccessor(0)],
                          first_[branch->getSuccessor(1)]);
  } else {
    emit_divergent_branch(block, branch);
  }
}

void Emitter::emit_divergent_branch(llvm::BasicBlock* block, llvm::BranchInst* branch) {
  llvm::Loop* loop = analysis_.loops->getLoopFor(block);
  if (loop && loop->isLoopExiting(block)) return close_divergent_loop(loop, branch);
  const Level& level = analysis_.levels->of(loop);
  const Arm arm = arm_of(level, analysis_.levels->node_of(level, block));
  llvm::Value* condition = part(branch->getCondition());
  if (!arm.on_true) condition = builder_.CreateNot(condition);
  llvm::Value* inside = narrow(mask(), condition);
  arm_mask_[arm.first] = inside;
  builder_.CreateCondBr(any(inside), first_[arm.first], first_[arm.join]);
}

void Emitter::close_divergent_loop(llvm::Loop* loop, llvm::BranchInst* branch) {
  LoopState& state = divergent_loops_[loop];
  llvm::BasicBlock* before = loop->getLoopPreheader();
  llvm::Value* on = mask();
  llvm::Value* staying = part(branch->getCondition());
  if (branch->getSuccessor(0) != loop->getHeader()) staying = builder_.CreateNot(staying);
  for (LoopState::Leaving& leaving : state.leaving) {
    const bool is_matrix = is_matrix_type(leaving.value->getType());
    Parts now = is_matrix ? Parts{matrix(leaving.value)} : parts(leaving.value);
    for (size_t i = 0; i < now.size(); ++i) {
      llvm::Value* old = leaving.kept.empty() ? nullptr : leaving.kept[i];
      if (!old) old = is_matrix ? scalars_[leaving.header_phi] : parts_[leaving.header_phi][i];
      now[i] = is_matrix ? blend_matrix(on, now[i], old) : blend(on, now[i], old);
      now[i]->setName("kept");
      if (leaving.kept.empty()) continue;
      leaving.kept[i]->addIncoming(llvm::PoisonValue::get(old->getType()), last_[before]);
      leaving.kept[i]->addIncoming(now[i], builder_.GetInsertBlock());
    }
    if (leaving.header_phi) blended_next_[leaving.header_phi] = now;
    if (is_matrix) {
      scalars_[leaving.exit_phi] = now.front();
    } else {
      parts_[leaving.exit_phi] = now;
    }
  }
  llvm::Value* next = narrow(on, staying);
  llvm::Value* entered = mask_.lookup(before);
  state.mask->addIncoming(entered ? entered : all_on(), last_[before]);
  state.mask->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(any(next), first_[loop->getHeader()], first_[loop->getExitBlock()]);
}

// The blocks through which lanes came that go on together from `from` to `block`, outermost first: lanes that skipped
// an arm, lanes that skipped an arm inside it, and so on, and at last those that are in `from`.
llvm::SmallVector<llvm::BasicBlock*, 4> Emitter::ways_in(llvm::BasicBlock* block, llvm::BasicBlock* from) const {
  llvm::SmallVector<llvm::BasicBlock*, 4> ways;
  const llvm::BasicBlock* top = analysis_.dominators->getNode(block)->getIDom()->getBlock();
  for (const auto* node = analysis_.dominators->getNode(from); node; node = node->getIDom()) {
    llvm::BasicBlock* at = node->getBlock();
    const bool skipped = analysis_.shapes->divergent(at) && llvm::is_contained(llvm::successors(at), block);
    if (at == from || skipped) ways.push_back(at);
    if (at == top) break;
  }
  std::reverse(ways.begin(), ways.end());
  return ways;
}

Parts Emitter::incoming_parts(llvm::PHINode& phi, llvm::BasicBlock* from) {
  llvm::Loop* loop = analysis_.loops->getLoopFor(phi.getParent());
  if (loop && loop->getHeader() == phi.getParent()) {
    const auto kept = blended_next_.find(&phi);
    if (kept != blended_next_.end() && loop->getLoopLatch() == from) return kept->second;
    return parts(phi.getIncomingValueForBlock(from));
  }
  Parts result;
  for (llvm::BasicBlock* way : ways_in(phi.getParent(), from)) {
    llvm::Value* value = phi.getIncomingValueForBlock(way);
    if (llvm::isa<llvm::UndefValue>(value)) continue;
    const Parts on = parts(value);
    if (result.empty()) result = on;
    for (size_t i = 0; i < on.size(); ++i) result[i] = blend(mask_[way], on[i], result[i]);
  }
  if (result.empty()) {
    for (llvm::Value* form : parts_[&phi]) result.push_back(llvm::Constant::getNullValue(form->getType()));
  }
  return result;
}

llvm::Value* Emitter::incoming_matrix(llvm::PHINode& phi, llvm::BasicBlock* from) {
  llvm::Loop* loop = analysis_.loops->getLoopFor(phi.getParent());
  if (loop && loop->getHeader() == phi.getParent()) {
    const auto kept = blended_next_.find(&phi);
    if (kept != blended_next_.end() && loop->getLoopLatch() == from) return kept->second.front();
    return matrix(phi.getIncomingValueForBlock(from));
  }
  llvm::Value* result = nullptr;
  for (llvm::BasicBlock* way : ways_in(phi.getParent(), from)) {
    llvm::Value* value = phi.getIncomingValueForBlock(way);
    if (llvm::isa<llvm::UndefValue>(value)) continue;
    result = result ? blend_matrix(mask_[way], matrix(value), result) : matrix(value);
  }
  return result ? result : llvm::Constant::getNullValue(phi.getType());
}

void Emitter::connect_phis(llvm::BasicBlock* block) {
  if (divergent_loop_left_at(block)) return;
  for (llvm::PHINode& phi : block->phis()) {
    const Shape form = shape(&phi);
    for (llvm::BasicBlock* from : llvm::predecessors(block)) {
      builder_.SetInsertPoint(last_[from]->getTerminator());
      made_in_ = nullptr;
      if (form.is_varying()) {
        // A switch may lead here by several edges; they all carry the same value.
        auto* first = llvm::cast<llvm::PHINode>(parts_[&phi].front());
        const bool again = first->getBasicBlockIndex(last_[from]) >= 0;
        const Parts values = again ? Parts() : incoming_parts(phi, from);
        for (size_t i = 0; i < parts_[&phi].size(); ++i) {
          auto* copy = llvm::cast<llvm::PHINode>(parts_[&phi][i]);
          copy->addIncoming(again ? copy->getIncomingValueForBlock(last_[from]) : values[i], last_[from]);
        }
        continue;
      }
      llvm::Value* value = form.is_matrix() ? incoming_matrix(phi, from) : scalar(phi.getIncomingValueForBlock(from));
      llvm::cast<llvm::PHINode>(scalars_[&phi])->addIncoming(value, last_[from]);
    }
  }
}

}  // namespace smelt::aot::cpu::lanes
