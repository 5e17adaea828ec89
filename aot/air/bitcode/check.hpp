// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The typed self-check: what LLVM 14's reader and verifier would say about pointees, before anything is written. LLVM
// 19 has no pointees to compare, so our own output can be judged nowhere else without LLVM 14.
#pragma once

#include "bitcode/typed_module.hpp"

namespace smelt::aot::bitcode {

/// Judges every record's operand types: loads, stores and geps against the pointee, calls against the function type,
/// phis, returns, initialisers against their fields, and so on; that each operand is defined; that no type refers
/// forward. The first violation is an internal error that names the function, the instruction and both types.
Result<void> check_types(const TypedModule& module);

}  // namespace smelt::aot::bitcode
