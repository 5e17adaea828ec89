// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/back_edges.hpp"

#include "smelt/schema/cpu_abi.h"

#include "abi/dispatch_block.hpp"
#include "abi/further_parameters.hpp"
#include "llvm_support/returns.hpp"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <map>
#include <vector>

namespace smelt::aot::cpu {
namespace {

/// A count that is known, and larger than this many bits hold, is as good as none.
constexpr unsigned kMostBits = 36;
/// A count of at most so many bits is over at once.
constexpr unsigned kFewBits = 16;

bool is_few(const llvm::SCEV* count) {
  const auto* fixed = llvm::dyn_cast<llvm::SCEVConstant>(count);
  return fixed == nullptr || fixed->getAPInt().getActiveBits() <= kMostBits;
}

/// What LLVM finds out about a function's loops.
class Counts {
 public:
  explicit Counts(llvm::Function& function)
      : dominators_(function),
        loops_(dominators_),
        assumptions_(function),
        library_facts_(llvm::Triple(function.getParent()->getTargetTriple())),
        library_(library_facts_),
        evolution_(function, library_, assumptions_, dominators_, loops_) {}

  llvm::SmallVector<llvm::Loop*, 4> loops() const { return loops_.getLoopsInPreorder(); }

  bool is_counted(const llvm::Loop& loop) {
    const llvm::SCEV* count = evolution_.getBackedgeTakenCount(&loop);
    return !llvm::isa<llvm::SCEVCouldNotCompute>(count) && is_few(count);
  }
  /// Whatever the kernel reads: what goes round a few times at most, and what the launch counts, such as its threads.
  bool is_bounded(const llvm::Loop& loop) {
    const auto* most = llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getConstantMaxBackedgeTakenCount(&loop));
    if (most != nullptr && most->getAPInt().getActiveBits() <= kFewBits) return true;
    const llvm::SCEV* count = evolution_.getBackedgeTakenCount(&loop);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(count)) return false;
    return !llvm::SCEVExprContains(count, [](const llvm::SCEV* part) {
      const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
      if (unknown == nullptr || llvm::isa<llvm::Argument>(unknown->getValue())) return false;
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(unknown->getValue());
      return load == nullptr || !load->hasMetadata(llvm::LLVMContext::MD_invariant_load);
    });
  }
  /// Or would be if its counter did not wrap around, nor its step was zero: it ends when something that goes one way
  /// all the time has reached something that stays.
  bool means_to_count(const llvm::Loop& loop) {
    const llvm::SCEV* count = evolution_.getBackedgeTakenCount(&loop);
    if (!llvm::isa<llvm::SCEVCouldNotCompute>(count)) return is_few(count);
    if (loop.getLoopLatch() == nullptr) return false;
    llvm::SmallVector<llvm::BasicBlock*> exiting;
    loop.getExitingBlocks(exiting);
    return llvm::any_of(exiting, [&](const llvm::BasicBlock* block) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      const auto* compare = branch != nullptr && branch->isConditional()
                                ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                                : nullptr;
      if (compare == nullptr || !dominators_.dominates(block, loop.getLoopLatch())) return false;
      llvm::Value* left = compare->getOperand(0);
      llvm::Value* right = compare->getOperand(1);
      return (goes_one_way(left, loop) && loop.isLoopInvariant(right)) ||
             (goes_one_way(right, loop) && loop.isLoopInvariant(left));
    });
  }

 private:
  /// Sums of steps, and what is halved each time.
  bool goes_one_way(llvm::Value* value, const llvm::Loop& loop) {
    if (!value->getType()->isIntegerTy()) return false;
    const auto* sum = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(value));
    if (sum != nullptr && sum->getLoop() == &loop) return true;
    const auto* shift = llvm::dyn_cast<llvm::BinaryOperator>(value);
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(value); phi != nullptr && phi->getParent() == loop.getHeader())
      shift = llvm::dyn_cast<llvm::BinaryOperator>(phi->getIncomingValueForBlock(loop.getLoopLatch()));
    if (shift == nullptr || !shift->isShift()) return false;
    const auto* from = llvm::dyn_cast<llvm::PHINode>(shift->getOperand(0));
    return from != nullptr && from->getParent() == loop.getHeader() &&
           from->getIncomingValueForBlock(loop.getLoopLatch()) == shift &&
           llvm::isa<llvm::ConstantInt>(shift->getOperand(1));
  }

  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::AssumptionCache assumptions_;
  llvm::TargetLibraryInfoImpl library_facts_;
  llvm::TargetLibraryInfo library_;
  llvm::ScalarEvolution evolution_;
};

using Edges = llvm::SmallVector<std::pair<llvm::BasicBlock*, llvm::BasicBlock*>>;

/// From the ends of loops to their beginnings.
Edges edges_to_watch(llvm::Function& function, EndedLoops which) {
  Counts counts(function);
  Edges edges;
  for (llvm::Loop* loop : counts.loops()) {
    if (which == EndedLoops::uncounted ? counts.is_counted(*loop) : counts.is_bounded(*loop)) continue;
    llvm::SmallVector<llvm::BasicBlock*> latches;
    loop->getLoopLatches(latches);
    for (llvm::BasicBlock* latch : latches) edges.push_back({latch, loop->getHeader()});
  }
  return edges;
}

/// `word`: what says whether the launch is to end.
void watch(llvm::Function& function, const Edges& edges, llvm::Value* word) {
  if (edges.empty()) return;
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(function.getContext(), "ended", &function));
  llvm::BasicBlock* leave = builder.GetInsertBlock();
  create_null_return(builder);
  for (const auto& [latch, header] : edges) {
    llvm::BasicBlock* look = llvm::SplitEdge(latch, header);
    builder.SetInsertPoint(look->getTerminator());
    llvm::LoadInst* state = builder.CreateAlignedLoad(builder.getInt32Ty(), word, llvm::Align(4));
    state->setAtomic(llvm::AtomicOrdering::Monotonic);
    llvm::Value* ends = builder.CreateICmpEQ(state, builder.getInt32(SMELT_CPU_LAUNCH_ENDS));
    builder.CreateCondBr(ends, leave, header, llvm::MDBuilder(function.getContext()).createUnlikelyBranchWeights());
    look->getTerminator()->eraseFromParent();
  }
}

/// In the entry point, where the dispatch block is.
llvm::Value* find_word(llvm::Function& entry) {
  llvm::IRBuilder<> builder(&*entry.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  llvm::AllocaInst* no = builder.CreateAlloca(builder.getInt32Ty());  // where nobody asks, a word that says no
  builder.CreateStore(builder.getInt32(0), no);
  llvm::Value* record = SMELT_DISPATCH_FIELD(builder, builder.getPtrTy(), entry.getArg(0), fault);
  return builder.CreateSelect(builder.CreateIsNull(record), no, record);
}

/// The same function with the word as its last parameter; `old` keeps its callers and nothing else.
llvm::Function* with_word(llvm::Function& old) {
  llvm::Function* made = with_parameters(old, llvm::PointerType::get(old.getContext(), 0), "");
  made->copyAttributesFrom(&old);
  made->setLinkage(old.getLinkage());
  made->removeFnAttr(llvm::Attribute::Memory);  // it looks at the word now
  made->takeName(&old);
  take_body(*made, old);
  return made;
}

void pass_word(llvm::CallInst& call, llvm::Function& to, llvm::Value* word) {
  llvm::CallInst* made = call_instead(call, to, word);
  made->setCallingConv(call.getCallingConv());
  made->setTailCallKind(call.getTailCallKind());
  made->setAttributes(call.getAttributes().removeFnAttribute(call.getContext(), llvm::Attribute::Memory));
  call.eraseFromParent();
}

}  // namespace

bool may_go_on(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    Counts counts(function);
    if (llvm::any_of(counts.loops(), [&](const llvm::Loop* loop) { return !counts.means_to_count(*loop); }))
      return true;
  }
  return false;
}

void end_at_back_edges(llvm::Module& module, llvm::Function& entry, EndedLoops which) {
  // Who has such a loop, and whoever calls one of those.
  std::map<llvm::Function*, Edges> watched;
  llvm::SmallVector<llvm::Function*> work;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    Edges edges = edges_to_watch(function, which);
    if (edges.empty()) continue;
    watched[&function] = std::move(edges);
    work.push_back(&function);
  }
  while (!work.empty())
    for (llvm::User* user : work.pop_back_val()->users())
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call && watched.try_emplace(call->getFunction()).second)
        work.push_back(call->getFunction());
  if (watched.empty()) return;
  std::vector<llvm::Function*> order;  // the module's: the bytes may not depend on addresses
  for (llvm::Function& function : module)
    if (watched.contains(&function)) order.push_back(&function);
  std::map<llvm::Function*, llvm::Value*> words;
  std::vector<std::pair<llvm::Function*, llvm::Function*>> remade;
  for (llvm::Function* function : order) {
    llvm::Function* made = function == &entry ? function : with_word(*function);
    llvm::Value* word = function == &entry ? find_word(entry) : made->getArg(made->arg_size() - 1);
    words[made] = word;
    watch(*made, watched[function], word);
    if (made != function) remade.push_back({function, made});
  }
  for (const auto& [old, made] : remade) {
    for (llvm::User* user : llvm::make_early_inc_range(old->users()))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) pass_word(*call, *made, words.at(call->getFunction()));
    old->eraseFromParent();
  }
}

}  // namespace smelt::aot::cpu
