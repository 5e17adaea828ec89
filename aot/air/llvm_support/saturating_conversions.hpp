// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal converts a float that does not fit to the nearest integer that does, and NaN to 0, as air.convert does. LLVM's
// fptosi and fptoui give poison there, which its passes drop with all that depends on it, or replace by a truncation.
// So the passes see the saturating intrinsics meanwhile.
#pragma once

#include "llvm/IR/Function.h"

namespace smelt::aot {

/// Before the passes.
void saturate_conversions(llvm::Function& function);
/// After them: the instructions again, of which air.convert is made. What still converts a constant stays.
void plain_conversions(llvm::Function& function);

}  // namespace smelt::aot
