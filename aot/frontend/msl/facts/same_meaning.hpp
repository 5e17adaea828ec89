// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether two variants of a function do the same: those that a macro or a generator writes once for each space.
#pragma once

#include "clang/AST/Decl.h"

namespace smelt::aot::msl {

/// Both have a body, and these differ in nothing but spaces and in calls of variants that mean the same in turn. What
/// it does not know differs.
bool mean_the_same(const clang::FunctionDecl& left, const clang::FunctionDecl& right);

}  // namespace smelt::aot::msl
