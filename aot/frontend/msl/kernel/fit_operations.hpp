// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of AIR that a source declares itself, by an assembler label: float f(float) __asm("air.fast_rsqrt.f32").
// Clang passes vectors, which are classes to it, by a pointer, and AIR by value.
#pragma once

#include "smelt/base/result.hpp"

namespace llvm {
class Module;
}

namespace smelt::aot::msl {

/// Calls of air.* functions get the types that the table of operations has, where these mean the same. Errors:
/// compile_failed for a call that cannot.
Result<void> fit_operations(llvm::Module& module);

}  // namespace smelt::aot::msl
