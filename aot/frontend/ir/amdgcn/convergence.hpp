// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which instructions run with all lanes of a wave on. A shuffle from a lane that is off is undefined in Metal and
// defined on AMD (docs/formats/triton-amdgcn.md 5.2), so a plain shuffle needs a proof that all are on.
#pragma once

#include "llvm/ADT/DenseSet.h"

namespace llvm {
class BasicBlock;
class CallInst;
class Function;
class Value;
}  // namespace llvm

namespace smelt::aot::input::amdgcn {

class Convergence {
 public:
  explicit Convergence(llvm::Function& kernel);

  /// Some lanes may not come to this block while others do.
  bool may_be_partial(const llvm::BasicBlock* block) const { return partial_.contains(block); }

 private:
  bool is_divergent(const llvm::BasicBlock& block) const;
  bool propagate(llvm::Function& kernel);

  llvm::DenseSet<const llvm::Value*> varying_;
  llvm::DenseSet<const llvm::BasicBlock*> joins_;  ///< phis here may see lanes that came different ways
  llvm::DenseSet<const llvm::BasicBlock*> partial_;
};

/// The name of an AMD operation without "llvm.amdgcn." or "amdgcn."; empty for other callees.
llvm::StringRef amd_name(const llvm::CallInst& call);
llvm::StringRef amd_name(const llvm::Function& function);
bool is_barrier(const llvm::Instruction& instruction);

}  // namespace smelt::aot::input::amdgcn
