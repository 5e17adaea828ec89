// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A condition that is computed from function constants,
//
//   constant bool has_both = has_mask && has_colour;
//   ... texture2d<float> mask [[texture(0), function_constant(has_both)]]
//
// is a call at the head of the entry, void smelt.predicate.has_both(i8 value), and stays one until the entry's metadata
// is made (legalise/predicates.hpp). kFunctionConstant and a StageValue's condition have the function's name where
// others have a constant's index.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace smelt::aot::kernel_ir {

inline constexpr llvm::StringLiteral kPredicate = "smelt.predicate.";

}  // namespace smelt::aot::kernel_ir
