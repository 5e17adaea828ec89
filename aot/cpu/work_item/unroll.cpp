// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/unroll.hpp"

#include "llvm_support/analyses.hpp"
#include "lower/collectives.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace smelt::aot::cpu {
namespace {

// Loops of at most this many iterations disappear when their bodies are small; LLVM's size threshold decides which.
constexpr const char* kUnroll =
    "sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,loop-unroll<full-unroll-max=64>";
constexpr const char* kSimplify = "sroa,instcombine<no-verify-fixpoint>,early-cse,simplifycfg,adce";
/// How many times shorter what was unrolled becomes at best: what is longer is not simplified to be measured, which is
/// most of the time that a trial takes.
constexpr unsigned kShorter = 4;

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

/// A copy of a function, simplified with some of its hints, that may take the function's place.
class Trial {
 public:
  /// `most`: the length up to which it is wanted if it follows hints.
  Trial(llvm::Function& function, Followed followed, unsigned most, llvm::TargetMachine& target) : function_(function) {
    llvm::ValueToValueMapTy map;
    copy_ = llvm::CloneFunction(&function, map);
    hints_ = drop_hints(*copy_, followed);
    run_passes(*copy_, kUnroll, &target);
    fits_ = hints_ == 0 || copy_->getInstructionCount() <= kShorter * most;
    if (!fits_) return;
    run_passes(*copy_, kSimplify, &target);
    fits_ = hints_ == 0 || copy_->getInstructionCount() <= most;
  }
  ~Trial() { copy_->eraseFromParent(); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Short enough, or without loops that kept their hints.
  bool fits() const { return fits_; }

  /// The function's body becomes the copy's; once, and nothing else is asked of this trial then.
  void take() {
    for (llvm::BasicBlock& block : function_) block.dropAllReferences();
    while (!function_.empty()) function_.begin()->eraseFromParent();
    function_.splice(function_.begin(), copy_);
    for (unsigned i = 0; i < function_.arg_size(); ++i) copy_->getArg(i)->replaceAllUsesWith(function_.getArg(i));
    function_.setSubprogram(copy_->getSubprogram());
    copy_->setSubprogram(nullptr);
  }

 private:
  llvm::Function& function_;
  llvm::Function* copy_ = nullptr;
  unsigned hints_ = 0;
  bool fits_ = false;
};

}  // namespace

void simplify_and_unroll(llvm::Function& function, llvm::TargetMachine& target) {
  if (Trial arrays(function, Followed::matrices_and_arrays, kMostWithArrays, target); arrays.fits())
    return arrays.take();
  if (Trial matrices(function, Followed::matrices, kMostUnrolled, target); matrices.fits()) return matrices.take();
  Trial(function, Followed::none, 0, target).take();
}

}  // namespace smelt::aot::cpu
