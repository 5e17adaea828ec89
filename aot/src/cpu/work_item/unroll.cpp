// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu/work_item/unroll.hpp"

#include "cpu/lower/collectives.hpp"
#include "llvm_support/analyses.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace smelt::aot::cpu {
namespace {

// Loops of at most this many iterations disappear when their bodies are small; LLVM's size threshold decides which.
constexpr const char* kSimplify =
    "sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,loop-unroll<full-unroll-max=64>,"
    "sroa,instcombine<no-verify-fixpoint>,early-cse,simplifycfg,adce";

/// Instructions of one thread up to which loops over matrices are unrolled as asked,
constexpr unsigned kMostUnrolled = 1000;
/// ... and up to which loops over the thread's own arrays are too (mat-mat of ggml needs more than 700).
constexpr unsigned kMostWithArrays = 1500;

/// Whose hints are followed.
enum class Followed { none, matrices, matrices_and_arrays };

bool has_matrix_operation(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block)
      if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->getCalledFunction()) {
        const auto collective = parse_collective(call->getCalledFunction()->getName());
        if (collective && is_matrix(collective->kind)) return true;
      }
  return false;
}

/// Such an array lies in memory, once for each lane, for as long as its indices are not constants.
bool has_own_array(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block) {
      const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (pointer != nullptr && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer, 0))) return true;
    }
  return false;
}

/// Gives how many loops kept theirs.
unsigned drop_hints(llvm::Function& function, Followed followed) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  unsigned kept = 0;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    llvm::MDNode* hints = loop->getLoopID();
    if (hints == nullptr || llvm::getBooleanLoopAttribute(loop, "llvm.loop.unroll.disable")) continue;
    if ((followed != Followed::none && has_matrix_operation(*loop)) ||
        (followed == Followed::matrices_and_arrays && has_own_array(*loop)))
      ++kept;
    else
      loop->setLoopID(llvm::makePostTransformationMetadata(function.getContext(), hints, {"llvm.loop.unroll."}, {}));
  }
  return kept;
}

/// With AVX2 an array of eight takes two times the registers that there are: what is spilled costs as much as the array
/// did, and twice the time to compile.
bool has_many_registers(const llvm::TargetMachine& target) {
  return target.getTargetCPU() != "x86-64-v3";
}

bool is_short(llvm::Function& function, Followed followed, unsigned most, llvm::TargetMachine& target) {
  llvm::ValueToValueMapTy map;
  llvm::Function* trial = llvm::CloneFunction(&function, map);
  bool fits = true;
  if (drop_hints(*trial, followed) != 0) {
    run_passes(*trial, kSimplify, &target);
    fits = trial->getInstructionCount() <= most;
  }
  trial->eraseFromParent();
  return fits;
}

}  // namespace

void simplify_and_unroll(llvm::Function& function, llvm::TargetMachine& target) {
  if (has_many_registers(target) && is_short(function, Followed::matrices_and_arrays, kMostWithArrays, target))
    drop_hints(function, Followed::matrices_and_arrays);
  else if (is_short(function, Followed::matrices, kMostUnrolled, target))
    drop_hints(function, Followed::matrices);
  else
    drop_hints(function, Followed::none);
  run_passes(function, kSimplify, &target);
}

}  // namespace smelt::aot::cpu
