// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/structure.hpp"

#include "lanes/rewrite.hpp"
#include "lanes/transforms.hpp"
#include "llvm_support/analyses.hpp"
#include "llvm_support/returns.hpp"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

namespace smelt::aot::cpu::lanes {
namespace {

// Each round settles at least the innermost loops and regions that are not in form; nesting beyond this is refused.
constexpr unsigned kRounds = 96;

bool is_irreducible(llvm::Function& function) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  return llvm::containsIrreducibleCFG<llvm::BasicBlock*, const llvm::ReversePostOrderTraversal<llvm::Function*>,
                                      const llvm::LoopInfo>(order, loops);
}

bool has_switch(llvm::Function& function) {
  return llvm::any_of(function, [](llvm::BasicBlock& b) { return llvm::isa<llvm::SwitchInst>(b.getTerminator()); });
}

void lower_switches(llvm::Function& function) {
  if (has_switch(function))
    run_passes(function, "lower-switch,simplifycfg<no-switch-range-to-icmp>,loop-simplify,lcssa");
}

// Traps and unreachable code: a GPU has no traps, and what cannot happen may as well return.
void drop_traps(llvm::Function& function) {
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!call) continue;
      const llvm::Intrinsic::ID id = call->getIntrinsicID();
      if (id == llvm::Intrinsic::trap || id == llvm::Intrinsic::debugtrap || id == llvm::Intrinsic::ubsantrap) {
        call->eraseFromParent();
      }
    }
    if (llvm::isa<llvm::UnreachableInst>(block.getTerminator())) return_instead(*block.getTerminator());
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (branch && branch->isConditional() && branch->getSuccessor(0) == branch->getSuccessor(1)) {
      branch->getSuccessor(0)->removePredecessor(&block, /*KeepOneInputPHIs=*/true);
      llvm::BranchInst::Create(branch->getSuccessor(0), &block);
      branch->eraseFromParent();
    }
  }
}

// Every block must reach a return: a thread that never ends would hold up its whole gang for ever.
bool all_blocks_return(llvm::Function& function) {
  llvm::SmallPtrSet<llvm::BasicBlock*, 32> reaching;
  llvm::SmallVector<llvm::BasicBlock*, 32> work;
  for (llvm::BasicBlock& block : function) {
    if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) work.push_back(&block);
  }
  while (!work.empty()) {
    llvm::BasicBlock* block = work.pop_back_val();
    if (reaching.insert(block).second) work.append(llvm::pred_begin(block), llvm::pred_end(block));
  }
  return reaching.size() == function.size();
}

// A region that must become a chain, or a loop that must leave by its latch first.
struct Step {
  unsigned entry = 0;
  bool needs_unified_loop = false;
};

// The smallest region round `node` into which nothing else leads.
Step enclosing_region(const Level& level, unsigned node) {
  llvm::SmallVector<unsigned, 8> wanted = level.region(node);
  wanted.push_back(node);
  const auto encloses = [&](unsigned entry) {
    llvm::SmallVector<unsigned, 8> region = level.region(entry);
    region.push_back(entry);
    return is_closed(level, entry) &&
           llvm::all_of(wanted, [&](unsigned inside) { return llvm::is_contained(region, inside); });
  };
  while (node != 0 && !encloses(node)) node = level.nodes[node].above;
  const auto leaves = [&](unsigned inside) { return level.nodes[inside].leaves; };
  return {node, level.nodes[node].post == level.end() || llvm::any_of(level.region(node), leaves)};
}

bool in_form(const Level& level, unsigned node, const Shapes& shapes) {
  if (!shapes.divergent(level.nodes[node])) return true;
  if (!level.nodes[node].block) return false;
  if (level.loop && level.nodes[node].leaves) return is_latch_exit(*level.loop);
  return arm_of(level, node).first != nullptr;
}

// The next things to rewrite: parts of the function that do not overlap.
struct Work {
  llvm::SmallVector<llvm::Loop*, 4> loops;
  llvm::SmallVector<std::pair<const Level*, unsigned>, 8> regions;
};

void find_loops(const Analysis& analysis, Work& work) {
  for (const Level& level : analysis.levels->inner_first()) {
    if (!level.loop || !analysis.shapes->divergent(level.loop) || is_latch_exit(*level.loop)) continue;
    const auto is_inside = [&](const llvm::Loop* other) { return level.loop->contains(other); };
    if (llvm::none_of(work.loops, is_inside)) work.loops.push_back(level.loop);
  }
}

void find_regions(const Analysis& analysis, Work& work) {
  for (const Level& level : analysis.levels->inner_first()) {
    std::vector<bool> taken(level.nodes.size(), false);
    for (unsigned node = level.end(); node-- > 0;) {
      if (taken[node] || in_form(level, node, *analysis.shapes)) continue;
      const Step step = enclosing_region(level, node);
      if (step.needs_unified_loop) {
        work.regions.clear();
        if (level.loop) work.loops.push_back(level.loop);
        return;
      }
      llvm::SmallVector<unsigned, 8> region = level.region(step.entry);
      region.push_back(step.entry);
      const auto is_taken = [&](unsigned inside) { return taken[inside]; };
      if (llvm::any_of(region, is_taken)) continue;
      for (unsigned inside : region) taken[inside] = true;
      work.regions.push_back({&level, step.entry});
    }
    // Outer levels see inner loops as nodes; they wait until those are done.
    if (!work.regions.empty()) return;
  }
}

}  // namespace

Analysis::Analysis(llvm::Function& function, llvm::ArrayRef<Shape> arguments, unsigned lanes)
    : dominators(std::make_unique<llvm::DominatorTree>(function)),
      loops(std::make_unique<llvm::LoopInfo>(*dominators)),
      levels(std::make_unique<Levels>(function, *loops)),
      shapes(std::make_unique<Shapes>(function, *loops, *levels, arguments, lanes)) {}

Analysis::~Analysis() = default;

bool is_latch_exit(const llvm::Loop& loop) {
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  return latch && loop.getExitingBlock() == latch && loop.getExitBlock() && loop.getLoopPreheader() &&
         loop.getExitBlock()->getSinglePredecessor() == latch && llvm::isa<llvm::BranchInst>(latch->getTerminator());
}

Arm arm_of(const Level& level, unsigned node) {
  const LevelNode& at = level.nodes[node];
  auto* branch = at.block ? llvm::dyn_cast<llvm::BranchInst>(at.block->getTerminator()) : nullptr;
  if (!branch || !branch->isConditional() || at.post == level.end()) return {};
  llvm::BasicBlock* join = level.nodes[at.post].block;
  for (unsigned straight : {0u, 1u}) {
    llvm::BasicBlock* first = branch->getSuccessor(1 - straight);
    if (!join || branch->getSuccessor(straight) != join || first == join) continue;
    if (first->getSinglePredecessor() != at.block || !is_closed(level, node)) continue;
    return {first, join, straight == 1};
  }
  return {};
}

Result<void> normalise(llvm::Function& function) {
  drop_traps(function);
  llvm::removeUnreachableBlocks(function);
  for (llvm::BasicBlock& block : function) {
    const llvm::Instruction* end = block.getTerminator();
    if (!llvm::isa<llvm::BranchInst>(end) && !llvm::isa<llvm::SwitchInst>(end) && !llvm::isa<llvm::ReturnInst>(end)) {
      return fail(Errc::unsupported, "control flow by '{}' has no lane form", end->getOpcodeName());
    }
  }
  if (!all_blocks_return(function)) return fail(Errc::unsupported, "a loop that never ends has no lane form");
  run_passes(function, "mergereturn,loop-simplify,lcssa");
  if (is_irreducible(function)) {
    // The pass knows branches only, hence the switches first.
    lower_switches(function);
    run_passes(function, "fix-irreducible,loop-simplify,lcssa");
    if (is_irreducible(function)) return fail(Errc::unsupported, "a loop with several entries has no lane form");
  }
  return {};
}

Result<void> structurise(llvm::Function& function, llvm::ArrayRef<Shape> arguments, unsigned lanes) {
  for (unsigned round = 0; round < kRounds; ++round) {
    const Analysis analysis(function, arguments, lanes);
    Work work;
    find_loops(analysis, work);
    if (work.loops.empty()) find_regions(analysis, work);
    if (work.loops.empty() && work.regions.empty()) return {};
    if (has_switch(function)) {
      lower_switches(function);
      if (has_switch(function)) return fail(Errc::unsupported, "a switch could not be lowered to branches");
      continue;
    }
    Variables variables(function);
    for (llvm::Loop* loop : work.loops) {
      if (!loop->getLoopPreheader()) return fail(Errc::unsupported, "a loop without a preheader has no lane form");
      unify_exits(*loop, variables);
    }
    for (const auto& [level, entry] : work.regions) {
      linearise(function, *analysis.levels, *level, *analysis.shapes, entry, variables);
    }
    variables.promote();
    run_passes(function, "loop-simplify,lcssa");
  }
  return fail(Errc::unsupported, "control flow is nested too deeply for lanes ({} rounds of rewriting)", kRounds);
}

}  // namespace smelt::aot::cpu::lanes
