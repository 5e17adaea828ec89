// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow that masks can follow.
//
// The emitter (control_flow.hpp) understands two forms of divergent control flow, and only these:
//   if     a branch of which one way leads straight to its immediate post-dominator, and the other into blocks that
//          nothing else leads into;
//   loop   one exit, at the only latch.
// structurise() brings a function into that form without changing what any single thread computes: both transformations
// below are valid on the scalar function, and are tested on it.
//
//   A divergent loop with other exits: every exit and the back edge go to one new latch, which knows from variables
//   where each thread wanted to go. (`break` becomes "skip the rest of the body, then leave".)
//
//   A divergent branch of another form: the blocks of the smallest enclosing single-entry region are put in topological
//   order, each behind `if (it is this thread's turn)`. Well-formed parts of the region move as a whole, so uniform
//   branches and loops inside them stay as they are. (`if .. else ..` becomes `if (c) ..; if (!c) ..`.)
//
// LLVM's structurizecfg and unify-loop-exits are not used: they rewrite uniform control flow too, and they assert.
#pragma once

#include "smelt/base/result.hpp"

#include "lanes/shapes.hpp"

#include <memory>

namespace llvm {
class DominatorTree;
class Function;
class LoopInfo;
class PostDominatorTree;
}  // namespace llvm

namespace smelt::aot::cpu::lanes {

/// Everything known about a function's control flow, valid until it changes. Not movable: parts refer to each other.
struct Analysis {
  Analysis(llvm::Function& function, llvm::ArrayRef<Shape> arguments, unsigned lanes);
  ~Analysis();
  Analysis(const Analysis&) = delete;

  std::unique_ptr<llvm::DominatorTree> dominators;
  std::unique_ptr<llvm::LoopInfo> loops;
  std::unique_ptr<Levels> levels;
  std::unique_ptr<Shapes> shapes;
};

/// One return, no unreachable code, simplified loops in LCSSA form. Fails for functions with control flow that no mask
/// can follow: irreducible loops that cannot be made reducible, endless loops, indirect branches, exceptions.
Result<void> normalise(llvm::Function& function);

/// Both forms and nothing else for divergent branches, for the given shapes of arguments. The function must be
/// normalised, and is again afterwards.
Result<void> structurise(llvm::Function& function, llvm::ArrayRef<Shape> arguments, unsigned lanes);

/// For a divergent `if`: the first block of its arm and the block where lanes meet again.
struct Arm {
  llvm::BasicBlock* first = nullptr;
  llvm::BasicBlock* join = nullptr;
  bool on_true = false;  ///< the arm is entered when the condition holds
};
/// The arm of the branch at `node`, or an `Arm` without blocks if it is not of the `if` form.
Arm arm_of(const Level& level, unsigned node);
/// `loop` is of the loop form: only exit at the only latch.
bool is_latch_exit(const llvm::Loop& loop);

}  // namespace smelt::aot::cpu::lanes
