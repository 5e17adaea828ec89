// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hardware values that a kernel may ask for (docs/formats/air.md 1.6), and how kernel IR reads one by a call.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>
#include <span>
#include <string_view>

namespace smelt::aot::kernel_ir {

struct BuiltinRow {
  std::string_view attribute;  ///< as in MSL; "air." in front makes the metadata kind
  bool is_vector = false;      ///< uint3 (or uint2, uint), else uint or ushort
};

std::span<const BuiltinRow> builtin_rows();
const BuiltinRow* find_builtin(std::string_view attribute);

/// What a call of `smelt.builtin.<attribute>[.<x|y|z>]` asks for: {"thread_position_in_grid", "x"}.
struct BuiltinCall {
  llvm::StringRef attribute;
  llvm::StringRef component;  ///< empty for a scalar; as it stands in the name, also when it is none
};
/// Nothing for a function of another name.
std::optional<BuiltinCall> parse_builtin_call(llvm::StringRef function_name);

/// What the name of a variable begins with that is a hardware value at program scope: its attribute and its own name
/// follow, `smelt.hardware.thread_position_in_grid.index`.
inline constexpr const char* kHardwareVariable = "smelt.hardware.";

/// A function of this ending reads a control point of a patch, and the API makes it (docs/formats/air.md 1.13).
inline constexpr llvm::StringLiteral kControlPointSuffix = ".MTL_CONTROL_POINT_FN";

/// Of AIR, of LLVM, of the compiler itself: a function that no object defines.
bool is_operation(llvm::StringRef function_name);

/// A call that reads a hardware value as i32; `component` is 'x', 'y', 'z', or 0 for a scalar.
llvm::CallInst* call_builtin(llvm::IRBuilderBase& builder, std::string_view attribute, char component);

}  // namespace smelt::aot::kernel_ir
