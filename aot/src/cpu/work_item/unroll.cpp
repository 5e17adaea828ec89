// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu/work_item/unroll.hpp"

#include "cpu/lower/collectives.hpp"
#include "llvm_support/analyses.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace smelt::aot::cpu {
namespace {

// Loops of at most this many iterations disappear when their bodies are small; LLVM's size threshold decides which.
constexpr const char* kSimplify =
    "sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,loop-unroll<full-unroll-max=64>,"
    "sroa,instcombine<no-verify-fixpoint>,early-cse,simplifycfg,adce";

/// Instructions of one thread up to which loops over matrices are unrolled as asked.
constexpr unsigned kMostUnrolled = 1000;

bool has_matrix_operation(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block)
      if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->getCalledFunction()) {
        const auto collective = parse_collective(call->getCalledFunction()->getName());
        if (collective && is_matrix(collective->kind)) return true;
      }
  return false;
}

/// `also_matrices`: of loops over matrices as well. Gives how many loops over matrices kept theirs.
unsigned drop_hints(llvm::Function& function, bool also_matrices) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  unsigned kept = 0;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    llvm::MDNode* hints = loop->getLoopID();
    if (hints == nullptr || llvm::getBooleanLoopAttribute(loop, "llvm.loop.unroll.disable")) continue;
    if (!also_matrices && has_matrix_operation(*loop))
      ++kept;
    else
      loop->setLoopID(llvm::makePostTransformationMetadata(function.getContext(), hints, {"llvm.loop.unroll."}, {}));
  }
  return kept;
}

}  // namespace

void simplify_and_unroll(llvm::Function& function, llvm::TargetMachine& target) {
  if (drop_hints(function, false) != 0) {
    llvm::ValueToValueMapTy map;
    llvm::Function* trial = llvm::CloneFunction(&function, map);
    run_passes(*trial, kSimplify, &target);
    const bool is_long = trial->getInstructionCount() > kMostUnrolled;
    trial->eraseFromParent();
    if (is_long) drop_hints(function, true);
  }
  run_passes(function, kSimplify, &target);
}

}  // namespace smelt::aot::cpu
