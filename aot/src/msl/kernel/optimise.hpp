// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clang's unoptimised code to what the legaliser likes to see: one function, values in registers, pointers that name
// their space.
#pragma once

#include "smelt/base/result.hpp"

#include "msl/facts/kernel_facts.hpp"

#include <vector>

namespace llvm {
class Function;
class Module;
class TargetLibraryInfoImpl;
}  // namespace llvm

namespace smelt::aot::msl {

/// No C library: a loop that copies stays a loop, and does not become memmove.
llvm::TargetLibraryInfoImpl no_library();

/// Metal's operators where C++ leaves the result open: shift amounts count modulo the width
/// (docs/formats/metal-language.md 2.6).
void prepare_operations(llvm::Module& module);

/// Helpers into the entries; what nobody uses goes.
void inline_all(llvm::Module& module);

/// Function constants get their AIR storage, and constants derived from them are computed at the head of the entry.
/// Runs when everything is inlined.
Result<void> bind_constants(llvm::Module& module, const std::vector<ConstantFact>& constants, llvm::Function& entry);

void optimise(llvm::Module& module);

}  // namespace smelt::aot::msl
