// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callees first: a helper has everything that it calls inlined and is simplified before it is copied itself, so that a
// kernel is made of small bodies; most helpers already in the whole source, once for all kernels. LLVM's own
// AlwaysInliner goes the other way, copies each helper's calls with it and asks for analyses that nothing here uses:
// together with simplifying what it leaves, three times the time.
#include "llvm_support/analyses.hpp"
#include "msl/kernel/keep_helpers.hpp"
#include "msl/kernel/optimise.hpp"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <algorithm>
#include <vector>

namespace smelt::aot::msl {
namespace {

/// Callees before their callers; of those that call each other, in any order, also `in_circles`.
std::vector<llvm::Function*> callees_first(llvm::Module& module, llvm::DenseSet<llvm::Function*>* in_circles) {
  std::vector<llvm::Function*> order;
  llvm::CallGraph graph(module);
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component)
    for (const llvm::CallGraphNode* node : *component)
      if (llvm::Function* function = node->getFunction(); function != nullptr && !function->isDeclaration()) {
        order.push_back(function);
        if (in_circles != nullptr && component.hasCycle()) in_circles->insert(function);
      }
  return order;
}

void mark_to_be_inlined(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::NoInline);
  function.removeFnAttr(llvm::Attribute::OptimizeNone);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
}

/// Calls of a function from which on it is worth while to look at how they are inlined.
constexpr size_t kManyCalls = 64;

/// Inlines what is finished into one function after the other, and simplifies that.
class Inliner {
 public:
  Inliner() : library_(no_library()), analyses_(builder_, &library_) {
    once_.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    once_.addPass(llvm::EarlyCSEPass());
    each_.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  }

  enum class For : uint8_t {
    all_kernels,  // may take longer; what is large is left to the kernels, as one that calls it once has it inlined
    kernel,
    kernel_without_calls,  // nothing more stays a function
  };

  void finish(llvm::Function& function, For what) {
    if (is_kept(function)) return;
    inline_calls(function);
    (what == For::all_kernels ? once_ : each_).run(function, analyses_.function);
    analyses_.function.clear(function, function.getName());
    if (what == For::all_kernels && is_large(function)) return;
    if (what == For::kernel && may_stay(function)) return mark_kept(function);
    if (llvm::isInlineViable(function).isSuccess()) finished_.insert(&function);
  }

 private:
  bool is_inlined(const llvm::CallBase& call) const {
    return finished_.contains(call.getCalledFunction()) && call.hasFnAttr(llvm::Attribute::AlwaysInline) &&
           !call.getAttributes().hasFnAttr(llvm::Attribute::NoInline);
  }

  /// Only functions that call each other bring calls with them that are inlined too. It ends: the last of a circle
  /// would then call itself, and is not finished.
  void inline_calls(llvm::Function& function) {
    std::vector<llvm::CallBase*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) calls.push_back(call);
    std::vector<llvm::BasicBlock*> rests;
    if (calls.size() >= kManyCalls) rests = split_behind(calls);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (!is_inlined(*calls[i])) continue;
      llvm::InlineFunctionInfo inlined;
      if (llvm::InlineFunction(*calls[i], inlined, /*MergeAttributes=*/true, nullptr, /*InsertLifetime=*/false)
              .isSuccess())
        calls.insert(calls.end(), inlined.InlinedCallSites.begin(), inlined.InlinedCallSites.end());
    }
    for (llvm::BasicBlock* rest : rests) llvm::MergeBlockIntoPredecessor(rest);
  }

  /// Gives what stands behind each call that is inlined a block, in the order of the calls. Inlining moves what is
  /// behind a call in its block to another: of thousands of calls in one block that would be the square of them. The
  /// blocks are joined again when all are inlined.
  std::vector<llvm::BasicBlock*> split_behind(llvm::ArrayRef<llvm::CallBase*> calls) const {
    std::vector<llvm::BasicBlock*> rests;
    for (llvm::CallBase* call : llvm::reverse(calls))
      if (is_inlined(*call) && !call->isTerminator())
        rests.push_back(call->getParent()->splitBasicBlock(call->getNextNode()));
    std::reverse(rests.begin(), rests.end());
    return rests;
  }

  llvm::PassBuilder builder_;
  llvm::TargetLibraryInfoImpl library_;
  Analyses analyses_;
  llvm::FunctionPassManager once_, each_;
  llvm::DenseSet<const llvm::Function*> finished_;
};

}  // namespace

struct HelperSimplifier::State {
  Inliner inliner;
  llvm::DenseMap<const llvm::Function*, size_t> places;  // of those that are to be simplified
};

HelperSimplifier::HelperSimplifier(llvm::Module& module, const std::vector<llvm::Function*>& entries)
    : state_(std::make_unique<State>()) {
  llvm::DenseSet<llvm::Function*> left_out(entries.begin(), entries.end());
  const std::vector<llvm::Function*> order = callees_first(module, &left_out);
  for (size_t i = 0; i < order.size(); ++i)
    if (!left_out.contains(order[i])) state_->places[order[i]] = i;
}
HelperSimplifier::~HelperSimplifier() = default;

std::vector<llvm::Function*> HelperSimplifier::simplify(std::vector<llvm::Function*> functions) {
  auto& places = state_->places;
  std::erase_if(functions, [&](const llvm::Function* one) { return !places.contains(one); });
  std::sort(functions.begin(), functions.end(),
            [&](const llvm::Function* a, const llvm::Function* b) { return places.at(a) < places.at(b); });
  for (llvm::Function* function : functions) {
    mark_to_be_inlined(*function);
    prepare_operations(*function);
    state_->inliner.finish(*function, Inliner::For::all_kernels);
    places.erase(function);
  }
  return functions;
}

void inline_all(llvm::Module& module) {
  Inliner inliner;
  std::vector<llvm::Function*> order = callees_first(module, nullptr);
  const auto finish = [&](Inliner::For what) {
    for (llvm::Function* function : order) inliner.finish(*function, what);
    llvm::DenseSet<llvm::Function*> unused;
    for (llvm::Function* function : llvm::reverse(order)) {
      if (!function->hasLocalLinkage() || !function->use_empty()) continue;
      function->eraseFromParent();
      unused.insert(function);
    }
    std::erase_if(order, [&](llvm::Function* function) { return unused.contains(function); });
  };
  finish(Inliner::For::kernel);
  while (drop_open_pointers(module)) finish(Inliner::For::kernel_without_calls);
}

void make_internal(llvm::Module& module, const llvm::Function& entry) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || &function == &entry) continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    mark_to_be_inlined(function);
  }
  for (llvm::GlobalVariable& global : module.globals()) {
    if (global.isDeclaration() || global.getName().starts_with("llvm.")) continue;
    global.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

}  // namespace smelt::aot::msl
