// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the emitter can do, asked before it starts: a kernel that is refused here falls back to regions, and nothing in
// emit.hpp has a way to fail.
#pragma once

#include "smelt/base/result.hpp"

#include "lanes/structure.hpp"

namespace smelt::aot::cpu::lanes {

/// `function` must have passed structurise(), and `analysis` be of what came out. The error names the instruction.
Result<void> check_supported(llvm::Function& function, const Analysis& analysis, unsigned lanes);

}  // namespace smelt::aot::cpu::lanes
