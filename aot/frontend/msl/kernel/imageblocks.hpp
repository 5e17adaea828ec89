// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "smelt/base/result.hpp"

#include "msl/facts/kernel_facts.hpp"

namespace llvm {
class Module;
}

namespace smelt::aot::msl {

/// Whether lower_imageblocks() has more to do than to look.
bool uses_imageblocks(const llvm::Module& module);

/// Expects fold_constants(), so that colours and sizes are constants. What tile functions do with an
/// imageblock becomes AIR's operations on each of its members (docs/formats/air.md 1.15). Errors: a layout that has no
/// such operation, or that the function is not given.
Result<void> lower_imageblocks(llvm::Module& module, const KernelFact& kernel);

}  // namespace smelt::aot::msl
