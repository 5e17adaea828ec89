// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/optimise.hpp"

#include "llvm_support/analyses.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace smelt::aot::msl {
namespace {

constexpr unsigned kThread = 0;

/// Vectors wider than Metal's have to be split again.
llvm::PipelineTuningOptions tuning() {
  llvm::PipelineTuningOptions options;
  options.LoopVectorization = false;
  options.SLPVectorization = false;
  options.LoopInterleaving = false;
  options.MergeFunctions = false;
  return options;
}

/// No C library: a loop that copies stays a loop, and does not become memmove.
llvm::TargetLibraryInfoImpl no_library() {
  llvm::TargetLibraryInfoImpl library;
  library.disableAllFunctions();
  return library;
}

class Pipeline {
 public:
  Pipeline() : builder_(nullptr, tuning()), library_(no_library()), analyses_(builder_, &library_) {}
  llvm::PassBuilder& builder() { return builder_; }
  void add(llvm::FunctionPassManager passes) {
    passes_.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  }
  template <class Pass>
  void add_module(Pass pass) {
    passes_.addPass(std::move(pass));
  }
  void run(llvm::Module& module) { passes_.run(module, analyses_.module); }

 private:
  llvm::PassBuilder builder_;
  llvm::TargetLibraryInfoImpl library_;
  Analyses analyses_;
  llvm::ModulePassManager passes_;
};

/// Clang copies unions, and so vectors, with memmove: source and destination may be the same object. They overlap in no
/// other way, and then memcpy does as well; it exists between address spaces too.
void copy_objects_plainly(llvm::Module& module, bool only_between_spaces) {
  for (llvm::Function& function : module)
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

}  // namespace

void prepare_operations(llvm::Module& module) {
  copy_objects_plainly(module, false);
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!instruction.isShift()) continue;
      llvm::Value* amount = instruction.getOperand(1);
      const unsigned width = amount->getType()->getScalarSizeInBits();
      if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(amount);
          known != nullptr && known->getValue().ult(width))
        continue;
      llvm::IRBuilder<> builder(&instruction);
      instruction.setOperand(1, builder.CreateAnd(amount, llvm::ConstantInt::get(amount->getType(), width - 1)));
    }
}

void inline_all(llvm::Module& module) {
  Pipeline pipeline;
  llvm::FunctionPassManager before;
  before.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  before.addPass(llvm::EarlyCSEPass());
  pipeline.add(std::move(before));
  pipeline.add_module(llvm::AlwaysInlinerPass(false));
  pipeline.add_module(llvm::GlobalDCEPass());
  llvm::FunctionPassManager after;
  after.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  after.addPass(llvm::EarlyCSEPass());
  pipeline.add(std::move(after));
  pipeline.run(module);
}

void optimise(llvm::Module& module) {
  Pipeline pipeline;
  llvm::FunctionPassManager first;
  // Spaces first, each time: InstCombine makes one load of two that only seem to read the same space, by a pointer to
  // either.
  first.addPass(llvm::InferAddressSpacesPass(kThread));
  first.addPass(llvm::InstCombinePass());
  first.addPass(llvm::InferAddressSpacesPass(kThread));
  first.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  first.addPass(llvm::InferAddressSpacesPass(kThread));
  first.addPass(llvm::InstCombinePass());
  first.addPass(llvm::SimplifyCFGPass());
  pipeline.add(std::move(first));
  pipeline.add_module(pipeline.builder().buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2));
  llvm::FunctionPassManager last;
  last.addPass(llvm::InferAddressSpacesPass(kThread));
  last.addPass(llvm::InstCombinePass());
  pipeline.add(std::move(last));
  pipeline.add_module(llvm::GlobalDCEPass());
  pipeline.run(module);
  // The optimiser joins two copies through a variable into one move.
  copy_objects_plainly(module, true);
}

}  // namespace smelt::aot::msl
