// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything of a kernel becomes one function but what calls itself (c10's gamma and bessel_j1): that stays functions,
// which a thread may enter kDeepestRecursion deep. One that goes on reports it, and all of them return zero from then
// on, so that the launch ends and its stack stays bounded (codegen/private_memory.hpp).
#pragma once

#include "smelt/base/result.hpp"

#include <cstdint>
#include <vector>

namespace llvm {
class Function;
class Module;
class StringRef;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu {

inline constexpr uint32_t kDeepestRecursion = 512;

/// Marks the functions that reach themselves and inlines all others into them. An error for one that needs other
/// threads or the launch, and for a call of an unknown target.
Result<void> keep_recursion(llvm::Module& module);

bool is_recursive(const llvm::Function& function);  // marked

/// What of `function` needs the other threads or the launch, or null: then each thread may call it by itself.
const llvm::Value* what_needs_others(const llvm::Function& function);

/// Inlines every call to a function with a body, until none but those of marked functions is left: these and those
/// of lane_functions.hpp and long_functions.hpp.
Result<void> inline_calls(llvm::Function& function);

struct RecursiveFunction {
  llvm::Function* function = nullptr;
  llvm::Value* dispatch = nullptr;  ///< its parameter: the dispatch block
  llvm::Value* depth = nullptr;     ///< its parameter: i32, 0 when the kernel calls it
};

/// Gives the marked functions these two parameters and guards each against going deeper than kDeepestRecursion.
/// `kernel`, whose pointer to the dispatch block is `dispatch`, is the only other function that calls them.
std::vector<RecursiveFunction> bound_recursion(llvm::Function& kernel, llvm::Value& dispatch);

/// For checked code: guards their accesses to their own arrays and to constant tables. An error (unsupported) for a
/// function that takes a pointer, whose bounds are known only where it was made.
Result<void> check_recursion(const std::vector<RecursiveFunction>& functions);

/// Whether a symbol of the finished code is one of these functions.
bool is_recursive_symbol(llvm::StringRef name);

}  // namespace smelt::aot::cpu
