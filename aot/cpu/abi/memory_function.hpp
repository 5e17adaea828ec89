// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of a kernel's module that are called instead of being written in place again and again.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace llvm {
class Function;
class Module;
class Type;
}  // namespace llvm

namespace smelt::aot::cpu {

/// An attribute of a function that is called even where a kernel is so small that others are inlined.
inline constexpr char kStaysCalled[] = "smelt.stays-called";

/// An internal `void (...)` of that name without a body, which stays a function. No two of its pointers reach the same
/// memory, and none of them is kept.
llvm::Function* make_memory_function(llvm::Module& module, const std::string& name,
                                     llvm::ArrayRef<llvm::Type*> parameters);

}  // namespace smelt::aot::cpu
