// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/optimise.hpp"

#include "llvm_support/analyses.hpp"
#include "llvm_support/mem_intrinsics.hpp"
#include "llvm_support/metal_operations.hpp"
#include "msl/kernel/no_alias.hpp"
#include "msl/kernel/spaces.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace smelt::aot::msl {
namespace {

// What LLVM does at -O2, without what never changes a kernel of one function: the inliner and its kin; and without what
// takes long and leaves the same code but for a few instructions in a hundred: induction variables, GVN (EarlyCSE
// instead), SCCP, two of three InstCombines, BDCE, JumpThreading. Without the vectorisers too, since vectors wider than
// Metal's have to be split again; and without unrolling: how far a loop is unrolled is known to the compiler of the GPU
// alone, which counts registers.
constexpr llvm::StringLiteral kSimplify =
    "globalopt,function(sroa<modify-cfg>,early-cse,correlated-propagation,simplifycfg,"
    "tailcallelim,reassociate,loop(loop-rotate),loop-mssa(licm<allowspeculation>),"
    "simplifycfg,instcombine<no-verify-fixpoint>,loop(loop-idiom,loop-deletion),sroa<modify-cfg>,early-cse<memssa>,"
    "correlated-propagation,dse,adce,"
    "simplifycfg<hoist-common-insts;sink-common-insts>,instcombine<no-verify-fixpoint>,simplifycfg,sroa<modify-cfg>)";

// What leaves loops last, when short loops are gone: accumulators in arrays stay in registers then.
constexpr llvm::StringLiteral kLast =
    "function(loop-mssa(licm<allowspeculation>),instcombine<no-verify-fixpoint>,div-rem-pairs),cgscc(function-attrs)";

class Pipeline {
 public:
  Pipeline() : library_(no_library()), analyses_(builder_, &library_) {}
  void add(llvm::FunctionPassManager passes) {
    passes_.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  }
  template <class Pass>
  void add_module(Pass pass) {
    passes_.addPass(std::move(pass));
  }
  void add_text(llvm::StringRef text) { llvm::cantFail(builder_.parsePassPipeline(passes_, text)); }
  void run(llvm::Module& module) { passes_.run(module, analyses_.module); }

 private:
  llvm::PassBuilder builder_;
  llvm::TargetLibraryInfoImpl library_;
  Analyses analyses_;
  llvm::ModulePassManager passes_;
};

/// Clang copies unions, and so vectors, with memmove: source and destination may be the same object. They overlap in no
/// other way, and then memcpy does as well; it exists between address spaces too.
void copy_objects_plainly(llvm::Function& function, bool only_between_spaces) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* move = llvm::dyn_cast<llvm::MemMoveInst>(&instruction);
    if (move == nullptr || !llvm::isa<llvm::ConstantInt>(move->getLength())) continue;
    const unsigned from = move->getSourceAddressSpace(), to = move->getDestAddressSpace();
    if (only_between_spaces && (from == to || from == kThread || to == kThread)) continue;
    llvm::IRBuilder<> builder(move);
    builder.CreateMemCpy(move->getRawDest(), move->getDestAlign(), move->getRawSource(), move->getSourceAlign(),
                         move->getLength(), move->isVolatile());
    move->eraseFromParent();
  }
}

/// Clang stores a vector of three as one of four, whose last component is poison. LLVM's passes copy what has at most
/// 8 bytes as an integer, which then is poison as a whole: the last component gets a value.
void complete_small_vectors(llvm::Function& function) {
  constexpr uint64_t kMostBits = 64;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* const shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction);
    if (shuffle == nullptr || shuffle->getType()->getPrimitiveSizeInBits().getFixedValue() > kMostBits) continue;
    const llvm::ArrayRef<int> mask = shuffle->getShuffleMask();
    if (mask.size() != 4 || mask[3] != llvm::PoisonMaskElem ||
        llvm::is_contained(mask.take_front(3), llvm::PoisonMaskElem))
      continue;
    shuffle->setShuffleMask({mask[0], mask[1], mask[2], mask[2]});
  }
}

constexpr llvm::StringLiteral kUnroll = "llvm.loop.unroll.";
constexpr llvm::StringLiteral kKeptUnroll = "smelt.loop.unroll.";

/// A hint with another beginning of its name, or null where it has not this one.
llvm::MDNode* renamed_hint(const llvm::Metadata* hint, llvm::StringRef from, llvm::StringRef to) {
  const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(hint);
  if (node == nullptr || node->getNumOperands() == 0) return nullptr;
  const auto* name = llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(0));
  if (name == nullptr || !name->getString().starts_with(from)) return nullptr;
  llvm::LLVMContext& context = node->getContext();
  const llvm::StringRef hint_name = name->getString().drop_front(from.size());
  llvm::SmallVector<llvm::Metadata*> parts(node->op_begin(), node->op_end());
  parts[0] = llvm::MDString::get(context, (to + hint_name).str());
  // "#pragma unroll(1)": Apple's compiler keeps the count, newer ones of Clang do not.
  if (hint_name == "disable") {
    parts[0] = llvm::MDString::get(context, (to + "count").str());
    parts.push_back(llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1)));
  }
  return llvm::MDNode::get(context, parts);
}

/// How a source asks for loops to be unrolled, under a name that LLVM's passes do not follow, and back again.
void rename_unroll_hints(llvm::Module& module, llvm::StringRef from, llvm::StringRef to) {
  llvm::DenseMap<llvm::MDNode*, llvm::MDNode*> renamed;
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function) {
      llvm::Instruction* end = block.getTerminator();
      llvm::MDNode* loop = end->getMetadata(llvm::LLVMContext::MD_loop);
      if (loop == nullptr) continue;
      llvm::MDNode*& other = renamed[loop];
      if (other == nullptr) {
        llvm::SmallVector<llvm::Metadata*> parts(loop->op_begin(), loop->op_end());
        for (llvm::Metadata*& part : llvm::drop_begin(parts))
          if (llvm::MDNode* hint = renamed_hint(part, from, to)) part = hint;
        other = llvm::MDNode::getDistinct(module.getContext(), parts);
        other->replaceOperandWith(0, other);
      }
      end->setMetadata(llvm::LLVMContext::MD_loop, other);
    }
}

/// What they load and store has alias scopes as any other access.
void copy_small_objects_by_values(llvm::Module& module) {
  bool changed = false;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&instruction)) changed |= copy_by_values(*copy);
  llvm::ModuleAnalysisManager none;
  if (changed) NoAliasPass().run(module, none);
}

}  // namespace

llvm::TargetLibraryInfoImpl no_library() {
  llvm::TargetLibraryInfoImpl library;
  library.disableAllFunctions();
  return library;
}

void prepare_operations(llvm::Function& function) {
  copy_objects_plainly(function, false);
  define_operations(function);
  complete_small_vectors(function);
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (!instruction.isShift()) continue;
    llvm::Value* amount = instruction.getOperand(1);
    const unsigned width = amount->getType()->getScalarSizeInBits();
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(amount); known != nullptr && known->getValue().ult(width))
      continue;
    llvm::Constant* const last = llvm::ConstantInt::get(amount->getType(), width - 1);
    if (match(amount, llvm::PatternMatch::m_And(llvm::PatternMatch::m_Value(), llvm::PatternMatch::m_Specific(last))))
      continue;  // done, in a helper
    llvm::IRBuilder<> builder(&instruction);
    instruction.setOperand(1, builder.CreateAnd(amount, last));
  }
}

llvm::FunctionPassManager first_passes() {
  llvm::FunctionPassManager first;
  // Spaces first: InstCombine makes one load of two that only seem to read the same space, by a pointer to either.
  first.addPass(llvm::InferAddressSpacesPass(kThread));
  first.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  first.addPass(llvm::InferAddressSpacesPass(kThread));
  first.addPass(llvm::InstCombinePass());
  first.addPass(llvm::SimplifyCFGPass());
  return first;
}

void fold_constants(llvm::Module& module) {
  Pipeline pipeline;
  pipeline.add(first_passes());
  pipeline.run(module);
}

void optimise(llvm::Module& module) {
  Pipeline pipeline;
  pipeline.add(first_passes());
  pipeline.add_module(NoAliasPass());
  pipeline.add_text(kSimplify);
  llvm::FunctionPassManager spaces;
  spaces.addPass(llvm::InferAddressSpacesPass(kThread));
  pipeline.add(std::move(spaces));
  pipeline.add_module(NoAliasPass());  // again: what was joined or moved meanwhile lost its scopes
  pipeline.add_text(kLast);
  pipeline.add_module(NoAliasPass());
  pipeline.add_module(llvm::GlobalDCEPass());
  rename_unroll_hints(module, kUnroll, kKeptUnroll);
  pipeline.run(module);
  rename_unroll_hints(module, kKeptUnroll, kUnroll);
  for (llvm::Function& function : module) {
    copy_objects_plainly(function, true);  // the optimiser joins two copies through a variable into one move
    plain_conversions(function);
  }
  copy_small_objects_by_values(module);
}

}  // namespace smelt::aot::msl
