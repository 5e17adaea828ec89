// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lists themselves.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::allow_list {

/// Address spaces: 0 private, 1 device, 2 constant, 3 threadgroup.
inline constexpr unsigned kAddressSpaces = 4;
/// Of the mesh that a mesh function fills.
inline constexpr unsigned kMeshSpace = 7, kObjectSpace = 6;
/// Elements of a simdgroup matrix, the longest vector there is.
inline constexpr unsigned kLongestVector = 64;
/// Bytes of one type: no table or array of a kernel comes near.
inline constexpr uint64_t kLargestType = uint64_t{64} << 20;

bool has_integer_of(unsigned bits);
bool has_intrinsic(llvm::Intrinsic::ID id);
/// Instructions and constant expressions, by Instruction::getOpcode().
bool has_opcode(unsigned opcode);
bool has_constant_expression(unsigned opcode);
/// Of functions, parameters and results alike.
bool has_attribute(llvm::Attribute::AttrKind kind);
/// Attributes that are text. Others are dropped, not refused: every compiler writes its own.
bool has_text_attribute(llvm::StringRef name);
/// Kinds of metadata at instructions (LLVMContext::MD_...). Others are dropped.
llvm::ArrayRef<unsigned> metadata_kinds();

}  // namespace smelt::aot::allow_list
