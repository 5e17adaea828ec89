// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the 64 bits of a sampler, as our headers have it, to its handle: of an argument the bits are the handle, of a
// constant its state, with the highest bit set. Which of the two it is must be known here; which sampler it is need not
// be: a table of constants is chosen from by comparing, a table of handles is memory like any other.
#pragma once

#include "smelt/base/result.hpp"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class CallInst;
class Instruction;
class LoadInst;
class PHINode;
class Value;
}  // namespace llvm

namespace smelt::aot::air {

class SamplerHandles {
 public:
  /// `constant` gives the handle of a state.
  explicit SamplerHandles(llvm::function_ref<llvm::Value*(uint64_t state)> constant) : constant_(constant) {}

  /// The handle for kNeutralSampler's operand. Errors: compile_failed for bits of which nothing is known.
  Result<llvm::Value*> of(const llvm::CallInst& call);

 private:
  Result<llvm::Value*> handle(llvm::Value* bits);
  Result<llvm::Value*> of_phi(llvm::PHINode& phi);
  Result<llvm::Value*> of_load(llvm::LoadInst& load);
  Result<llvm::Value*> load_handle(llvm::LoadInst& load);
  Result<llvm::Value*> choose(llvm::LoadInst& load, llvm::ArrayRef<uint64_t> states);

  llvm::function_ref<llvm::Value*(uint64_t state)> constant_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> known_;
  const llvm::CallInst* call_ = nullptr;
};

}  // namespace smelt::aot::air
