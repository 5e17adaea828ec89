// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/slow_passes.hpp"

#include "llvm/IR/Module.h"

#include <algorithm>
#include <utility>

namespace smelt::aot {
namespace {

/// Instructions up to which each runs.
constexpr struct {
  llvm::StringLiteral name;
  unsigned most;
} kSlowPasses[] = {{"LoopLoadEliminationPass", 1000}, {"SLPVectorizerPass", 2000}};

thread_local unsigned longest = 0;

unsigned longest_function(const llvm::Module& module) {
  unsigned found = 0;
  for (const llvm::Function& function : module) found = std::max(found, function.getInstructionCount());
  return found;
}

}  // namespace

WithoutSlowPasses::WithoutSlowPasses(const llvm::Module& module)
    : before_(std::exchange(longest, longest_function(module))) {}

WithoutSlowPasses::~WithoutSlowPasses() {
  longest = before_;
}

bool is_left_out(llvm::StringRef pass) {
  return std::any_of(std::begin(kSlowPasses), std::end(kSlowPasses),
                     [&](const auto& slow) { return slow.name == pass && slow.most < longest; });
}

}  // namespace smelt::aot
