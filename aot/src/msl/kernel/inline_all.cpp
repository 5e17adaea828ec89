// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callees first: a helper has everything that it calls inlined and is simplified before it is copied itself, so that a
// kernel is made of small bodies. LLVM's own AlwaysInliner goes the other way, copies each helper's calls with it and
// asks for analyses that nothing here uses: together with simplifying what it leaves, three times the time.
#include "llvm_support/analyses.hpp"
#include "msl/kernel/optimise.hpp"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <vector>

namespace smelt::aot::msl {
namespace {

using Functions = llvm::DenseSet<const llvm::Function*>;

/// Callees before their callers; those that call each other in any order.
std::vector<llvm::Function*> callees_first(llvm::Module& module) {
  std::vector<llvm::Function*> order;
  llvm::CallGraph graph(module);
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component)
    for (const llvm::CallGraphNode* node : *component)
      if (llvm::Function* function = node->getFunction(); function != nullptr && !function->isDeclaration())
        order.push_back(function);
  return order;
}

bool is_inlined(const llvm::CallBase& call, const Functions& finished) {
  return finished.contains(call.getCalledFunction()) && call.hasFnAttr(llvm::Attribute::AlwaysInline) &&
         !call.getAttributes().hasFnAttr(llvm::Attribute::NoInline);
}

/// Only functions that call each other bring calls with them that are inlined too. It ends: the last of a circle would
/// then call itself, and is not finished.
void inline_calls(llvm::Function& function, const Functions& finished) {
  std::vector<llvm::CallBase*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) calls.push_back(call);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!is_inlined(*calls[i], finished)) continue;
    llvm::InlineFunctionInfo inlined;
    if (llvm::InlineFunction(*calls[i], inlined, /*MergeAttributes=*/true, nullptr, /*InsertLifetime=*/false)
            .isSuccess())
      calls.insert(calls.end(), inlined.InlinedCallSites.begin(), inlined.InlinedCallSites.end());
  }
}

}  // namespace

void inline_all(llvm::Module& module) {
  llvm::PassBuilder builder;
  const llvm::TargetLibraryInfoImpl library = no_library();
  Analyses analyses(builder, &library);
  llvm::FunctionPassManager simplify, simplify_last;
  simplify.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  simplify_last.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  simplify_last.addPass(llvm::EarlyCSEPass());
  Functions finished;
  for (llvm::Function* function : callees_first(module)) {
    inline_calls(*function, finished);
    (function->hasLocalLinkage() ? simplify : simplify_last).run(*function, analyses.function);
    analyses.function.clear(*function, function->getName());
    if (llvm::isInlineViable(*function).isSuccess()) finished.insert(function);
  }
  llvm::GlobalDCEPass().run(module, analyses.module);
}

}  // namespace smelt::aot::msl
