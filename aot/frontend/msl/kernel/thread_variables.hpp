// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Program-scope constants that AIR cannot hold, as variables of the thread that are filled in where a kernel begins.
#pragma once

#include "smelt/base/result.hpp"

#include "llvm/IR/IRBuilder.h"

#include <functional>

namespace llvm {
class Function;
class GlobalVariable;
class Module;
}  // namespace llvm

namespace smelt::aot::msl {

/// Stores the variable's value, at the head of the function.
using FillIn = std::function<void(llvm::IRBuilder<>& head, llvm::AllocaInst& own)>;

/// What `function` does with `constant`, it does with a variable of its own that `fill_in` gives its value. Errors:
/// compile_failed when its address goes where it cannot be followed.
Result<void> move_to_thread(llvm::GlobalVariable& constant, llvm::Function& function, const FillIn& fill_in);

/// What `function` does with `constant`, it does with a variable of its own that has its initial value. Errors:
/// compile_failed when its address goes where it cannot be followed.
Result<void> move_to_thread(llvm::GlobalVariable& constant, llvm::Function& function);

/// The tables of addresses of variables, in each function that reads one. Errors: as above.
Result<void> own_address_tables(llvm::Module& module);

}  // namespace smelt::aot::msl
