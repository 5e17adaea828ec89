// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels may do that are for the CPU alone (CompileOptions::cpu_only) and that no Apple GPU can: numbers in
// double precision, all atomics of 64 bits, more threadgroup memory. AIR has no double, so a double is its 64 bits, an
// i64, wherever it lies or moves, and what is computed of it is a call:
//
//   %z = fadd double %x, %y                    ->  %z = call i64 @smelt.cpu.f64.add(i64 %x, i64 %y)
//   %o = atomicrmw fadd ptr AS1 %p, double %x  ->  %o = call i64 @smelt.cpu.atomic.fadd.1(ptr AS1 %p, i64 %x)
//
// A module with any of it is marked by !smelt.cpu_only. No Metal compiler has these functions, and no library that we
// write for a GPU holds such a module.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace llvm {
class Function;
class FunctionType;
class LLVMContext;
class Module;
}  // namespace llvm

namespace smelt::aot::kernel_ir {

inline constexpr llvm::StringLiteral kCpuOnlyMark = "smelt.cpu_only";
inline constexpr llvm::StringLiteral kCpuOnlyPrefix = "smelt.cpu.";
inline constexpr llvm::StringLiteral kDoublePrefix = "smelt.cpu.f64.";
inline constexpr llvm::StringLiteral kWideAtomicPrefix = "smelt.cpu.atomic.";

/// How the CPU computes an operation on doubles.
enum class DoubleKind : uint8_t {
  instruction,  ///< `code` is a binary opcode
  negation,
  comparison,  ///< `code` is an FCmpInst predicate
  intrinsic,   ///< `code` is an intrinsic over double
  function,    ///< of the CPU runtime, of the same name with "d_" in front
  class_test,  ///< llvm.is.fpclass; the mask is a constant
  from_float,  ///< float, half or bfloat to double
  to_float,    ///< one rounding
  from_signed,
  from_unsigned,
  to_signed,  ///< towards zero, saturated, 0 for NaN
  to_unsigned,
};

struct DoubleOperation {
  llvm::StringLiteral name;
  /// Result and operands, a letter each: d the bits of a double, l i64, i i32, f float, h half, y bfloat, b i1.
  llvm::StringLiteral types;
  DoubleKind kind;
  unsigned code = 0;
};

/// By the name behind kDoublePrefix; null when there is none.
const DoubleOperation* find_double_operation(llvm::StringRef name);
/// What the letters say.
llvm::FunctionType* function_type(const DoubleOperation& operation, llvm::LLVMContext& context);

/// Whether a declaration is one of these operations, with its type.
bool is_cpu_only_operation(const llvm::Function& function);

bool is_cpu_only(const llvm::Module& module);
void mark_cpu_only(llvm::Module& module);

}  // namespace smelt::aot::kernel_ir
