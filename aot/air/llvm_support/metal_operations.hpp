// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that Metal gives a meaning and LLVM does not, so that its passes may drop what depends on them. In Metal a
// float that does not fit converts to the nearest integer that does, NaN to 0, as air.convert does; LLVM's fptosi gives
// poison. In Metal a division by 0 has an unspecified value (Metal Shading Language Specification 3.1); for LLVM, code
// that comes to one does not exist. So LLVM's passes, ours and those behind AIR, see forms that LLVM defines.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

namespace smelt::aot {

/// Before the passes: saturating intrinsics, and divisors that are at least 1. The latter stay in AIR, since nobody
/// could tell them from what the source says itself (`a / max(b, 1u)`).
void define_operations(llvm::Function& function);
/// After the passes: the plain conversions again, of which air.convert is made. What converts a constant stays.
void plain_conversions(llvm::Function& function);

/// A divisor that a processor would trap at becomes 1: 0, and -1 under the lowest number. Once for each division.
void guard_division(llvm::BinaryOperator& division);

}  // namespace smelt::aot
