// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clang's unoptimised code to what the legaliser likes to see: one function, values in registers, pointers that name
// their space.
#pragma once

#include "smelt/base/result.hpp"

#include "msl/facts/kernel_facts.hpp"

#include <memory>
#include <vector>

namespace llvm {
class Function;
class Module;
class TargetLibraryInfoImpl;
}  // namespace llvm

namespace smelt::aot::msl {

/// No C library: a loop that copies stays a loop, and does not become memmove.
llvm::TargetLibraryInfoImpl no_library();

/// Metal's operators where C++ leaves the result open: shift amounts count modulo the width, and a float that an
/// integer cannot hold becomes the nearest that it can (docs/formats/metal-language.md 1.4, 2.6).
void prepare_operations(llvm::Function& function);

/// Everything but the entry becomes internal, and is to be inlined.
void make_internal(llvm::Module& module, const llvm::Function& entry);

/// Helpers into the entries; what nobody uses goes.
void inline_all(llvm::Module& module);

/// Helpers of a source, each prepared, filled with what it calls and simplified once, however many kernels call it.
/// What becomes of one depends on itself and on what it calls alone: `entries` are kernels of their own and stay as
/// they are, as do functions that call themselves. One thread.
class HelperSimplifier {
 public:
  HelperSimplifier(llvm::Module& module, const std::vector<llvm::Function*>& entries);
  ~HelperSimplifier();
  HelperSimplifier(const HelperSimplifier&) = delete;
  HelperSimplifier& operator=(const HelperSimplifier&) = delete;

  /// `functions` with all that they call, in any order. Gives those that have changed: none of them was given before.
  std::vector<llvm::Function*> simplify(std::vector<llvm::Function*> functions);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Function constants get their AIR storage, and constants derived from them are computed at the head of the entry.
/// Runs when everything is inlined.
Result<void> bind_constants(llvm::Module& module, const std::vector<ConstantFact>& constants, llvm::Function& entry);

/// What optimise() begins with: what inlined calls were given is known where it is used.
void fold_constants(llvm::Module& module);
void optimise(llvm::Module& module);

}  // namespace smelt::aot::msl
