// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AIR's hardware values, in all their shapes (scalar, two, three components; 16 or 32 bits), made from Builtin scalars.
#pragma once

#include "smelt/base/result.hpp"

#include "work_item/work_item.hpp"

#include <functional>
#include <string_view>

namespace llvm {
class IRBuilderBase;
class Type;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu {

/// The value of one component of a builtin, i32.
using BuiltinSource = std::function<llvm::Value*(Builtin builtin, uint8_t component)>;

/// The value of an argument of type `type` that metadata calls `name` ("thread_position_in_grid", ...). Asks `source`
/// for exactly the components that it needs.
Result<llvm::Value*> emit_builtin_argument(llvm::IRBuilderBase& builder, std::string_view name, llvm::Type* type,
                                           const BuiltinSource& source);

}  // namespace smelt::aot::cpu
