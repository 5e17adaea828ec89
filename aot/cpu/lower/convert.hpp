// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions, for the other files of lower/.
#pragma once

#include "lower/operation.hpp"

namespace smelt::aot::cpu {

std::span<const Operation> convert_operations();
/// Whether an "air.convert" name can be read.
bool is_conversion(const AirName& name);
/// .rte, .rtz, .rtn and .rtp; `unspecified`: what MSL says without a suffix.
enum class Rounding : uint8_t { nearest, toward_zero, down, up, unspecified };
/// Float to half or bfloat.
llvm::Value* emit_float_to_small(llvm::IRBuilderBase& builder, llvm::Value* value, llvm::Type* small,
                                 Rounding rounding);

}  // namespace smelt::aot::cpu
