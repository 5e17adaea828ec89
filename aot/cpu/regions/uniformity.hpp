// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values may differ between the threads of one threadgroup, and which branches threads may take differently.
// Conservative, and simpler than LLVM's own analysis because sources are few (docs/design/cpu-code.md 2, step 6).
#pragma once

#include "work_item/work_item.hpp"

#include "llvm/ADT/DenseSet.h"

namespace llvm {
class BasicBlock;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu {

class Uniformity {
 public:
  explicit Uniformity(const WorkItem& item);

  bool is_varying(const llvm::Value* value) const { return varying_.contains(value); }
  bool is_divergent(const llvm::BasicBlock* block) const;  ///< its branch may go different ways
  /// Threads may differ in whether they come here: a divergent branch is undecided (not yet joined) at this block.
  bool is_under_divergence(const llvm::BasicBlock* block) const { return under_divergence_.contains(block); }

 private:
  void mark_sources(const WorkItem& item);
  bool propagate(llvm::Function& function);

  llvm::DenseSet<const llvm::Value*> varying_;
  llvm::DenseSet<const llvm::BasicBlock*> joins_;  ///< phis here may see threads from different ways
  llvm::DenseSet<const llvm::BasicBlock*> under_divergence_;
};

}  // namespace smelt::aot::cpu
