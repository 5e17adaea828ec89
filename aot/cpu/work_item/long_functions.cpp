// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/long_functions.hpp"

#include "codegen/private_memory.hpp"
#include "llvm_support/analyses.hpp"
#include "work_item/recursion.hpp"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <vector>

namespace smelt::aot::cpu {
namespace {

constexpr llvm::StringRef kLong = "smelt.long-function";

/// Instructions of the longest kernel that is still made one function: a minute of code generation.
constexpr uint64_t kLongestKernel = 40'000;
/// From here on a call costs little beside the body.
constexpr uint64_t kLongFunction = 300;
constexpr uint64_t kEndless = uint64_t{1} << 40;

/// Callees before callers; recursive functions are not among them.
std::vector<llvm::Function*> in_calling_order(llvm::Module& module) {
  std::vector<llvm::Function*> order;
  llvm::DenseMap<const llvm::Function*, bool> seen;
  llvm::CallGraph graph(module);
  for (const llvm::Function& root : module)
    for (auto component = llvm::scc_begin(graph[&root]); !component.isAtEnd(); ++component)
      for (const llvm::CallGraphNode* node : *component) {
        llvm::Function* function = node->getFunction();
        if (function == nullptr || function->isDeclaration() || !seen.try_emplace(function, true).second) continue;
        if (!component.hasCycle()) order.push_back(function);
      }
  return order;
}

/// How long each function is when all calls are inlined but those of functions that stay.
class Lengths {
 public:
  uint64_t add(const llvm::Function& function) {
    uint64_t length = 0;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
      length += 1 + (callee != nullptr && !is_long_function(*callee) ? lengths_.lookup(callee) : 0);
    }
    length = std::min(length, kEndless);
    lengths_[&function] = length;
    return length;
  }

 private:
  llvm::DenseMap<const llvm::Function*, uint64_t> lengths_;
};

bool has_calls(const llvm::Function& function) {
  unsigned calls = 0;
  for (const llvm::Use& use : function.uses()) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(use.getUser());
    if (call == nullptr || !call->isCallee(&use)) return false;
    ++calls;
  }
  return calls > 1;
}

bool calls_recursive(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call != nullptr && call->getCalledFunction() != nullptr && is_recursive(*call->getCalledFunction());
  });
}

bool may_stay_apart(llvm::Function& function) {
  // What is short is in it by now, or is inlined here: then it is to be seen whether it only computes.
  if (!has_calls(function) || !inline_calls(function)) return false;
  run_passes(function, "sroa,early-cse,simplifycfg,adce");
  return !calls_recursive(function) && what_needs_others(function) == nullptr &&
         bytes_of_arrays(function) <= kArraysOnStack;
}

}  // namespace

void keep_long_functions(llvm::Module& module) {
  const std::vector<llvm::Function*> order = in_calling_order(module);
  Lengths all;
  uint64_t longest = 0;
  for (const llvm::Function* function : order) longest = std::max(longest, all.add(*function));
  if (longest <= kLongestKernel) return;
  Lengths left;
  for (llvm::Function* function : order) {
    if (left.add(*function) < kLongFunction || !may_stay_apart(*function)) continue;
    function->addFnAttr(kLong);
    function->addFnAttr(llvm::Attribute::NoInline);
  }
}

bool has_long_functions(const llvm::Module& module) {
  return llvm::any_of(module, is_long_function);
}

bool is_long_function(const llvm::Function& function) {
  return function.hasFnAttribute(kLong);
}

}  // namespace smelt::aot::cpu
