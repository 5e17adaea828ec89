// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers for changes to control flow that break SSA on the way: variables in stack slots, turned back into values.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class AllocaInst;
class BasicBlock;
class Function;
class TargetMachine;
class Type;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu::lanes {

/// Stack slots of a rewrite. They start out undefined; promote() must be called before anything else looks.
class Variables {
 public:
  explicit Variables(llvm::Function& function) : function_(function) {}

  llvm::AllocaInst* make(llvm::Type* type, llvm::StringRef name);
  /// Stores `value` at the end of `block`.
  void set(llvm::AllocaInst* variable, llvm::Value* value, llvm::BasicBlock* block);
  /// Loads at the end of `block`, or at its head if it has no terminator yet: callers load in blocks they just made.
  llvm::Value* get(llvm::AllocaInst* variable, llvm::BasicBlock* block);
  /// Values used where they are no longer certain to have been computed become variables too, then all variables become
  /// values again.
  void promote();

 private:
  llvm::Function& function_;
  llvm::SmallVector<llvm::AllocaInst*, 16> slots_;
};

}  // namespace smelt::aot::cpu::lanes
