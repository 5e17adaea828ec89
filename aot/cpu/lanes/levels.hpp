// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The control flow of a function as a tree of loop levels, each an acyclic graph.
//
// A level is one loop (or the function itself) with every inner loop drawn as a single node. Edges back to the loop's
// header and edges out of the loop both go to one imaginary last node, `end`. On such graphs "which blocks can a branch
// decide about" has a simple answer: what lies between a node and its immediate post-dominator. Shapes (shapes.hpp) and
// the structuriser (structure.hpp) both ask only that.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace llvm {
class BasicBlock;
class Function;
class Loop;
class LoopInfo;
}  // namespace llvm

namespace smelt::aot::cpu::lanes {

struct LevelNode {
  llvm::BasicBlock* block = nullptr;  ///< exactly one of block and loop is set
  llvm::Loop* loop = nullptr;
  llvm::SmallVector<unsigned, 2> next;      ///< indices into Level::nodes, or Level::end()
  llvm::SmallVector<unsigned, 2> previous;  ///< without the level's entry
  unsigned post = 0;                        ///< immediate post-dominator; may be end()
  unsigned above = 0;                       ///< immediate dominator; node 0 has itself
  bool leaves = false;                      ///< has an edge out of the level's loop
};

struct Level {
  llvm::Loop* loop = nullptr;    ///< null for the function
  std::vector<LevelNode> nodes;  ///< in topological order; the first is the header or the entry block

  unsigned end() const { return static_cast<unsigned>(nodes.size()); }
  /// Nodes strictly between `node` and its immediate post-dominator, in topological order.
  llvm::SmallVector<unsigned, 8> region(unsigned node) const;
};

class Levels {
 public:
  /// The function must be reducible, without unreachable blocks, and every block must reach a return.
  Levels(llvm::Function& function, llvm::LoopInfo& loops);

  /// Inner loops before the loops round them; the function comes last.
  const std::vector<Level>& inner_first() const { return levels_; }
  const Level& of(const llvm::Loop* loop) const { return levels_[number_.lookup(loop)]; }
  /// Index in `level` of the node that is or contains `block`; level.end() if it is not inside.
  unsigned node_of(const Level& level, const llvm::BasicBlock* block) const;

 private:
  void add_edge(llvm::BasicBlock* from, llvm::BasicBlock* to);

  llvm::LoopInfo& loops_;
  std::vector<Level> levels_;
  llvm::DenseMap<const llvm::Loop*, unsigned> number_;
  llvm::DenseMap<const void*, unsigned> place_;  // block, or loop as a node of its parent
};

}  // namespace smelt::aot::cpu::lanes
