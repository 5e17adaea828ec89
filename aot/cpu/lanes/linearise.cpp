// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region of arbitrary acyclic control flow as a chain of one-armed ifs. See structure.hpp.
//
//        entry                     entry: turn_A = c; turn_B = !c
//        /    \                    if (turn_A) { A }
//       A      B        becomes    if (turn_B) { B; turn_C = d }
//       |     / \                  if (turn_C) { C }
//       |    C   |                 join
//        \   |  /
//          join
//
// What is put behind one `if` is a *piece*: a chain of nodes and well-formed regions with one way out, or a single node
// with several. A thread takes one path, so when it decides at some node, no earlier node has given it a turn in a
// later piece: plain stores to the turn variables are enough.
#include "lanes/rewrite.hpp"
#include "lanes/structure.hpp"
#include "lanes/transforms.hpp"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace smelt::aot::cpu::lanes {
namespace {

struct Piece {
  llvm::BasicBlock* head = nullptr;
  llvm::SmallVector<unsigned, 8> members;
  llvm::AllocaInst* turn = nullptr;
  llvm::BasicBlock* guard = nullptr;
};

class Lineariser {
 public:
  Lineariser(llvm::Function& function, const Levels& levels, const Level& level, const Shapes& shapes, unsigned entry,
             Variables& variables)
      : function_(function), levels_(levels), level_(level), shapes_(shapes), entry_(entry), variables_(variables) {}

  void run();

 private:
  Piece grow(unsigned head, const llvm::SmallVectorImpl<unsigned>& region) const;
  bool moves_as_a_whole(unsigned node) const;
  void leave(llvm::ArrayRef<unsigned> members, llvm::BasicBlock* next_guard);
  void redirect(llvm::BasicBlock* source, llvm::ArrayRef<unsigned> members, bool one_target,
                llvm::BasicBlock* next_guard);
  llvm::SmallVector<llvm::BasicBlock*, 8> blocks_of(llvm::ArrayRef<unsigned> members) const;
  Piece* piece_at(llvm::BasicBlock* head);
  void set_phis(llvm::BasicBlock* source, llvm::BasicBlock* target);

  llvm::Function& function_;
  const Levels& levels_;
  const Level& level_;
  const Shapes& shapes_;
  unsigned entry_;
  Variables& variables_;
  llvm::SmallVector<Piece, 8> pieces_;
  llvm::MapVector<llvm::PHINode*, llvm::AllocaInst*> carried_;
  llvm::SmallVector<llvm::BasicBlock*, 16> sources_;  // blocks that used to lead into another piece or the join
};

bool Lineariser::moves_as_a_whole(unsigned node) const {
  if (level_.nodes[node].next.size() < 2) return false;
  if (level_.nodes[node].post == level_.end() || !is_closed(level_, node)) return false;
  return !shapes_.divergent(level_.nodes[node]) || arm_of(level_, node).first;
}

Piece Lineariser::grow(unsigned head, const llvm::SmallVectorImpl<unsigned>& region) const {
  Piece piece;
  piece.head = level_.nodes[head].block;
  piece.members = {head};
  const unsigned stop = level_.nodes[entry_].post;
  for (unsigned at = head;;) {
    unsigned way_out = 0;
    if (level_.nodes[at].next.size() == 1) {
      way_out = level_.nodes[at].next.front();
    } else if (moves_as_a_whole(at)) {
      piece.members.append(level_.region(at));
      way_out = level_.nodes[at].post;
    } else {
      return piece;
    }
    if (way_out == stop || !llvm::is_contained(region, way_out)) return piece;
    const auto inside = [&](unsigned node) { return llvm::is_contained(piece.members, node); };
    if (!llvm::all_of(level_.nodes[way_out].previous, inside)) return piece;
    piece.members.push_back(way_out);
    at = way_out;
  }
}

llvm::SmallVector<llvm::BasicBlock*, 8> Lineariser::blocks_of(llvm::ArrayRef<unsigned> members) const {
  llvm::SmallVector<llvm::BasicBlock*, 8> blocks;
  for (unsigned member : members) {
    const LevelNode& node = level_.nodes[member];
    if (node.block) blocks.push_back(node.block);
    if (node.loop) blocks.append(node.loop->block_begin(), node.loop->block_end());
  }
  return blocks;
}

Piece* Lineariser::piece_at(llvm::BasicBlock* head) {
  const auto found = llvm::find_if(pieces_, [&](const Piece& piece) { return piece.head == head; });
  return found == pieces_.end() ? nullptr : &*found;
}

void Lineariser::set_phis(llvm::BasicBlock* source, llvm::BasicBlock* target) {
  for (llvm::PHINode& phi : target->phis()) {
    llvm::AllocaInst*& variable = carried_[&phi];
    if (!variable) variable = variables_.make(phi.getType(), phi.getName());
    variables_.set(variable, phi.getIncomingValueForBlock(source), source);
  }
}

void Lineariser::redirect(llvm::BasicBlock* source, llvm::ArrayRef<unsigned> members, bool one_target,
                          llvm::BasicBlock* next_guard) {
  auto* branch = llvm::cast<llvm::BranchInst>(source->getTerminator());
  llvm::SmallVector<unsigned, 2> outward;
  for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
    const unsigned node = levels_.node_of(level_, branch->getSuccessor(i));
    const bool back = level_.loop && branch->getSuccessor(i) == level_.loop->getHeader();
    if (back || !llvm::is_contained(members, node)) outward.push_back(i);
  }
  if (outward.empty()) return;
  sources_.push_back(source);
  llvm::IRBuilder<> builder(branch);
  for (unsigned i : outward) {
    llvm::BasicBlock* target = branch->getSuccessor(i);
    set_phis(source, target);
    Piece* piece = piece_at(target);
    if (!piece) continue;  // the join: everyone gets there
    llvm::Value* turn = builder.getTrue();
    if (!one_target && branch->isConditional()) {
      turn = i == 0 ? branch->getCondition() : builder.CreateNot(branch->getCondition());
    }
    builder.CreateStore(turn, piece->turn);
  }
  if (outward.size() == branch->getNumSuccessors()) {
    builder.CreateBr(next_guard);
    branch->eraseFromParent();
  } else {
    branch->setSuccessor(outward[0], next_guard);
  }
}

void Lineariser::leave(llvm::ArrayRef<unsigned> members, llvm::BasicBlock* next_guard) {
  llvm::SmallVector<llvm::BasicBlock*, 8> blocks = blocks_of(members);
  llvm::BasicBlock* target = nullptr;
  bool one_target = true;
  for (llvm::BasicBlock* block : blocks) {
    for (llvm::BasicBlock* next : llvm::successors(block)) {
      if (llvm::is_contained(members, levels_.node_of(level_, next))) continue;
      one_target &= !target || target == next;
      target = next;
    }
  }
  for (llvm::BasicBlock* block : blocks) redirect(block, members, one_target, next_guard);
}

void Lineariser::run() {
  const llvm::SmallVector<unsigned, 8> region = level_.region(entry_);
  llvm::BasicBlock* join = level_.nodes[level_.nodes[entry_].post].block;
  llvm::SmallVector<unsigned, 16> placed;
  for (unsigned node : region) {
    if (llvm::is_contained(placed, node)) continue;
    pieces_.push_back(grow(node, region));
    placed.append(pieces_.back().members);
  }
  llvm::LLVMContext& context = function_.getContext();
  for (Piece& piece : pieces_) {
    piece.turn = variables_.make(llvm::Type::getInt1Ty(context), "turn");
    piece.guard = llvm::BasicBlock::Create(context, "lane.if", &function_, piece.head);
  }
  llvm::BasicBlock* end = llvm::BasicBlock::Create(context, "lane.join", &function_, join);

  // Nobody has a turn until a decision gives one.
  const LevelNode& entry = level_.nodes[entry_];
  llvm::BasicBlock* start = entry.block ? entry.block : entry.loop->getLoopPreheader();
  for (Piece& piece : pieces_) variables_.set(piece.turn, llvm::ConstantInt::getFalse(context), start);
  leave({entry_}, pieces_.front().guard);
  for (size_t i = 0; i < pieces_.size(); ++i) {
    leave(pieces_[i].members, i + 1 < pieces_.size() ? pieces_[i + 1].guard : end);
  }
  for (size_t i = 0; i < pieces_.size(); ++i) {
    llvm::IRBuilder<> builder(pieces_[i].guard);
    builder.CreateCondBr(variables_.get(pieces_[i].turn, pieces_[i].guard), pieces_[i].head,
                         i + 1 < pieces_.size() ? pieces_[i + 1].guard : end);
  }
  llvm::IRBuilder<>(end).CreateBr(join);
  for (auto& [phi, variable] : carried_) {
    if (phi->getParent() == join) {
      for (unsigned i = phi->getNumIncomingValues(); i-- > 0;) {
        if (llvm::is_contained(sources_, phi->getIncomingBlock(i))) phi->removeIncomingValue(i, false);
      }
      phi->addIncoming(variables_.get(variable, end), end);
      continue;
    }
    llvm::IRBuilder<> builder(phi->getParent(), phi->getParent()->getFirstNonPHIIt());
    phi->replaceAllUsesWith(builder.CreateLoad(phi->getType(), variable));
    phi->eraseFromParent();
  }
}

}  // namespace

bool is_closed(const Level& level, unsigned node) {
  const llvm::SmallVector<unsigned, 8> region = level.region(node);
  return llvm::all_of(region, [&](unsigned inside) {
    return llvm::all_of(level.nodes[inside].previous,
                        [&](unsigned other) { return other == node || llvm::is_contained(region, other); });
  });
}

void linearise(llvm::Function& function, const Levels& levels, const Level& level, const Shapes& shapes, unsigned entry,
               Variables& variables) {
  Lineariser(function, levels, level, shapes, entry, variables).run();
}

}  // namespace smelt::aot::cpu::lanes
