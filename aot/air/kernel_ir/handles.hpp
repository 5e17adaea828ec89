// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textures and samplers as AIR's types: pointers to structures that nobody looks into.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class CallBase;
class LLVMContext;
class StructType;
}  // namespace llvm

namespace smelt::aot::kernel_ir {

/// "texture2d_array<float, sample>" -> "struct._texture_2d_array_t", "sampler" -> "struct._sampler_t"; of
/// "array<T, n>" that of T. Empty for any other name.
std::string handle_structure(llvm::StringRef type_name);

/// Stands for one handle where an attribute names the type of several: a structure of one pointer, which the bitcode
/// writer spells as the pointer to `handle_structure(type_name)`.
llvm::StructType* handle_type(llvm::LLVMContext& context, llvm::StringRef type_name, unsigned space);

/// Of such a type the structure behind the pointer; empty for any other.
llvm::StringRef structure_of_handle(const llvm::StructType& type);

/// What a tile function is given of its tile: Apple's structure of one pointer, which the bitcode writer spells as the
/// pointer to kImageblockStructure.
llvm::StructType* imageblock_type(llvm::LLVMContext& context);
inline constexpr unsigned kImageblockSpace = 4;
inline constexpr llvm::StringLiteral kImageblockType = "struct.metal::_imageblock_base";
inline constexpr llvm::StringLiteral kImageblockStructure = "struct._imageblock_t";

/// Whether it calls a visible function by what a table gives for it.
bool is_call_of_table(const llvm::CallBase& call);

}  // namespace smelt::aot::kernel_ir
