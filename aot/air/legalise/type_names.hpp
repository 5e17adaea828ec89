// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal's names for LLVM types, and how a value is laid out in memory when AIR's memory has no such type.
#pragma once

#include "llvm/IR/IRBuilder.h"

#include <string>

namespace smelt::aot::air {

/// "float4", "uchar", "half", ...; a struct is "struct". Signedness is not known to IR: integers are signed.
std::string metal_type_name(const llvm::Type* type);

/// The first part of a type that is a float of more than 32 bits, which no Apple GPU computes in; null for none.
const llvm::Type* wide_float_in(const llvm::Type* type);

/// What stands in memory for a value of this type: i1 is i8, odd integers the next of 8, 16, 32, 64 bits.
llvm::Type* memory_type(llvm::Type* type);

/// Loads a value that was stored as memory_type(type).
llvm::Value* load_value(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::Value* pointer,
                        const llvm::DataLayout& layout);

}  // namespace smelt::aot::air
