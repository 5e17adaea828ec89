// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One air.* call on its way to plain IR, and what the rows of ops/ops.def say of it. Internal to lower/.
#pragma once

#include "smelt/base/result.hpp"

#include "lower/air_name.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

#include <optional>
#include <span>
#include <string_view>

namespace smelt::aot::cpu {

/// Operands of half and bfloat are widened to float before a lowering of shape `floats` sees them, and its result is
/// rounded back afterwards: such lowerings deal with float and vectors of float only.
struct Call {
  llvm::IRBuilder<>& builder;
  llvm::CallInst& instruction;
  const AirName& name;
  llvm::SmallVector<llvm::Value*, 8> operands;
  llvm::Type* type = nullptr;  ///< of the result, as the lowering is to give it
  bool names_texels = false;   ///< LowerOptions::name_texels
  bool wide_products = false;  ///< LowerOptions::wide_products

  llvm::Module& module() const { return *instruction.getModule(); }
  llvm::Value* operator[](size_t i) const { return operands[i]; }
  /// ".s" anywhere in the name.
  bool is_signed() const { return llvm::is_contained(name.parts, "s"); }
};

/// The plain value; null for calls without result.
using Lowering = Result<llvm::Value*> (*)(Call&);

/// What the call must look like before its lowering is asked.
enum class Shape : uint8_t {
  floats,        ///< `operands` values of the result's own type, which is floating point
  exact_floats,  ///< the same, but half and bfloat are not widened
  integers,      ///< the same, with integers
  free,          ///< the lowering checks
};

struct Operation {
  Shape shape = Shape::free;
  uint8_t operands = 0;  ///< number of operands; 0 with Shape::free: the lowering checks
  Lowering lower = nullptr;
};

/// What a row of ops/ops.def says in its last column.
struct CpuAnswer {
  enum class Kind : uint8_t { lowered, collective, ahead, pipeline, refused };
  Kind kind = Kind::refused;
  Lowering lower = nullptr;
  bool is_exact = false;  ///< Shape::exact_floats where operands are of the result's type
  CollectiveKind collective{};
  std::string_view words;  ///< why it is refused
};
/// Of every row, in the order of air::table().
std::span<const CpuAnswer> cpu_answers();

/// The rows of one name together: an operation may be one thing for integers and another for floats.
struct NameAnswers {
  const CpuAnswer* answer = nullptr;  ///< the first row's
  std::optional<Operation> of_integers, of_others;
};
/// Null for a name that no row has.
const NameAnswers* find_answers(const AirName& name);

/// Null when nobody lowers it.
const Operation* find_operation(const AirName& name);

// ---- Shared by the lowerings ----------------------------------------------------------------------------------------

/// "air.exp.f32: ..." for a call whose operands are not what its name says.
tl::unexpected<Error> bad_call(const Call& call, std::string_view wanted);

/// Type of `shape`'s elements replaced: <4 x half>, float -> <4 x float>.
llvm::Type* with_element(llvm::Type* shape, llvm::Type* element);
bool is_small_float(const llvm::Type* type);

/// Calls a scalar runtime function; element by element for vectors. The result is of the first operand's type: float,
/// or half or bfloat, which are widened and rounded back.
Result<llvm::Value*> emit_runtime_call(llvm::IRBuilderBase& builder, std::string_view function,
                                       llvm::ArrayRef<llvm::Value*> operands);

// Elements with the same meaning in several places.
llvm::Value* emit_float_minimum(llvm::IRBuilderBase& builder, llvm::Value* x, llvm::Value* y, bool ignore_nan);
llvm::Value* emit_float_maximum(llvm::IRBuilderBase& builder, llvm::Value* x, llvm::Value* y, bool ignore_nan);

/// half or bfloat (or vectors of them) to float and back, to nearest even; no library calls on any target.
llvm::Value* emit_to_float(llvm::IRBuilderBase& builder, llvm::Value* value);
llvm::Value* emit_from_float(llvm::IRBuilderBase& builder, llvm::Value* value, llvm::Type* small);

/// Integers of any width to floats, of float type, rounded to odd: rounding that again to fewer bits rounds only once.
llvm::Value* emit_integer_to_odd_float(llvm::IRBuilderBase& builder, llvm::Value* value, bool is_signed);

}  // namespace smelt::aot::cpu
