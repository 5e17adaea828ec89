// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How generated code says that a thread did what it must not: the launch's record (smelt_cpu_fault), which the first
// one to come fills.
#pragma once

#include "llvm/IR/IRBuilder.h"

#include <array>
#include <string>

namespace smelt::aot::cpu {

/// True for the names of the functions that fill the record of a fault.
bool is_fault_helper(llvm::StringRef name);

/// Keeps the list of threadgroup variables that faults with a place point to (smelt_cpu_fault::variables). Call it
/// before the first fault is reported.
void tell_variables(llvm::Module& module, const std::string& text);

/// An empty internal function that returns nothing and is rarely called; the code of its callers stays small.
llvm::Function* make_cold_helper(llvm::Module& module, llvm::StringRef name, llvm::ArrayRef<llvm::Type*> parameters);

/// What the record is to hold; zero where there is nothing to say.
struct Fault {
  llvm::Value* object = nullptr;           ///< i32: smelt_cpu_fault::buffer
  llvm::Value* offset = nullptr;           ///< i64
  llvm::Value* bytes = nullptr;            ///< i64
  std::array<llvm::Value*, 3> position{};  ///< i32
  bool is_write = false;
  llvm::Value* place = nullptr;  ///< pointer to a text, of checked code: smelt_cpu_fault::place
};

/// A call at the builder's place. `dispatch` points to the dispatch block.
void report_fault(llvm::IRBuilder<>& builder, llvm::Value* dispatch, const Fault& fault);

}  // namespace smelt::aot::cpu
