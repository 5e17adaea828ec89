// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a stitchable function brings along for Metal's API, which makes new functions of several (docs/formats/air.md
// 1.12): for each of its types functions that load, store and copy it, and a node that names them.
#pragma once

#include "smelt/base/result.hpp"

namespace llvm {
class Function;
class MDNode;
}  // namespace llvm

namespace smelt::aot::air {

/// The same entry with { "air.stitching_info", ... } behind it, as the function's attribute kStitching says; the
/// functions are added to its module. Errors: compile_failed for an attribute that is none.
Result<llvm::MDNode*> with_stitching(llvm::Function& function, const llvm::MDNode& entry);

}  // namespace smelt::aot::air
