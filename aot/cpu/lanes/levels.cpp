// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/levels.hpp"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"

namespace smelt::aot::cpu::lanes {
namespace {

void link(Level& level, unsigned from, unsigned to) {
  if (!llvm::is_contained(level.nodes[from].next, to)) level.nodes[from].next.push_back(to);
  if (to != level.end() && !llvm::is_contained(level.nodes[to].previous, from)) {
    level.nodes[to].previous.push_back(from);
  }
}

// Dominators of an acyclic graph need one pass in topological order (and post-dominators one pass backwards).
void find_dominators(Level& level) {
  for (unsigned node = 1; node < level.end(); ++node) {
    unsigned above = level.end();
    for (unsigned other : level.nodes[node].previous) {
      if (above == level.end()) above = other;
      while (above != other) (above > other ? above : other) = level.nodes[above > other ? above : other].above;
    }
    level.nodes[node].above = above == level.end() ? 0 : above;
  }
  for (unsigned node = level.end(); node-- > 0;) {
    unsigned post = level.end() + 1;
    for (unsigned other : level.nodes[node].next) {
      if (post > level.end()) post = other;
      while (post != other) (post < other ? post : other) = level.nodes[post < other ? post : other].post;
    }
    level.nodes[node].post = post > level.end() ? level.end() : post;
  }
}

}  // namespace

llvm::SmallVector<unsigned, 8> Level::region(unsigned node) const {
  const unsigned stop = nodes[node].post;
  std::vector<bool> inside(nodes.size() + 1, false);
  llvm::SmallVector<unsigned, 8> found;
  inside[node] = true;
  // Topological order: every predecessor of a node inside has been seen before it.
  for (unsigned at = node; at < end(); ++at) {
    if (!inside[at] || at == stop) continue;
    if (at != node) found.push_back(at);
    for (unsigned other : nodes[at].next) inside[other] = true;
  }
  return found;
}

Levels::Levels(llvm::Function& function, llvm::LoopInfo& loops) : loops_(loops) {
  const auto outer_first = loops.getLoopsInPreorder();
  for (llvm::Loop* loop : llvm::reverse(outer_first)) {
    number_[loop] = static_cast<unsigned>(levels_.size());
    levels_.push_back({loop, {}});
  }
  number_[nullptr] = static_cast<unsigned>(levels_.size());
  levels_.push_back({});

  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  for (llvm::BasicBlock* block : order) {
    llvm::Loop* loop = loops.getLoopFor(block);
    if (loop && loop->getHeader() == block) {
      Level& outer = levels_[number_[loop->getParentLoop()]];
      place_[loop] = outer.end();
      outer.nodes.push_back({nullptr, loop});
    }
    Level& level = levels_[number_[loop]];
    place_[block] = level.end();
    level.nodes.push_back({block, nullptr});
  }
  for (llvm::BasicBlock* block : order) {
    for (llvm::BasicBlock* next : llvm::successors(block)) add_edge(block, next);
  }
  for (Level& level : levels_) {
    for (unsigned node = 0; node < level.end(); ++node) {
      if (level.nodes[node].next.empty()) link(level, node, level.end());
    }
    find_dominators(level);
  }
}

void Levels::add_edge(llvm::BasicBlock* from, llvm::BasicBlock* to) {
  // The innermost loop that contains both ends; a back edge ends at that loop's header.
  llvm::Loop* common = loops_.getLoopFor(from);
  while (common && !common->contains(to)) {
    Level& level = levels_[number_[common]];
    const unsigned node = node_of(level, from);
    level.nodes[node].leaves = true;
    link(level, node, level.end());
    common = common->getParentLoop();
  }
  Level& level = levels_[number_[common]];
  const bool back = common && common->getHeader() == to;
  link(level, node_of(level, from), back ? level.end() : node_of(level, to));
}

unsigned Levels::node_of(const Level& level, const llvm::BasicBlock* block) const {
  const llvm::Loop* loop = loops_.getLoopFor(block);
  if (loop == level.loop) return place_.lookup(block);
  for (; loop; loop = loop->getParentLoop()) {
    if (loop->getParentLoop() == level.loop) return place_.lookup(loop);
  }
  return level.end();
}

}  // namespace smelt::aot::cpu::lanes
