// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What math_intrinsics writes when AIR has no operation of that meaning.
#pragma once

#include "legalise/support.hpp"

namespace smelt::aot::air {

/// A place to build at, with the fast-math flags of the instruction that is replaced.
struct MathBuilder {
  llvm::IRBuilder<>& ir;
  const PassContext& context;
  llvm::Instruction& replaced;

  /// air.<operation>.<type of the first operand>, in its fast form where that is wanted and there is one. Vectors of
  /// more than four lanes and of other widths than AIR has are done piece by piece.
  Result<llvm::Value*> air(std::string_view operation, llvm::ArrayRef<llvm::Value*> operands, bool has_fast,
                           char signedness = 0);
};

/// The value that stands for the call (null for a call without result). Fails for intrinsics that have no meaning in
/// AIR.
Result<llvm::Value*> expand_intrinsic(MathBuilder& math, llvm::IntrinsicInst& call);
Result<llvm::Value*> expand_frem(MathBuilder& math);

// By subject; null inside the Result: not one of theirs.
Result<llvm::Value*> expand_float_intrinsic(MathBuilder& math, llvm::IntrinsicInst& call);
Result<llvm::Value*> expand_integer_intrinsic(MathBuilder& math, llvm::IntrinsicInst& call);
Result<llvm::Value*> expand_vector_intrinsic(MathBuilder& math, llvm::IntrinsicInst& call);

}  // namespace smelt::aot::air
