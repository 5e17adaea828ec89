// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between matrix.cpp and matrix_functions.cpp: pieces of row-major matrices, and where they lie in memory.
#pragma once

#include "lower/operation.hpp"

namespace smelt::aot::cpu::matrix {

constexpr unsigned kSide = 8;
constexpr unsigned kElements = 64;

llvm::Type* scalar_type(llvm::IRBuilderBase& b, const Element& element);
/// `count` elements of `vector` from `first` on, `step` apart.
llvm::Value* emit_part(llvm::IRBuilderBase& b, llvm::Value* vector, unsigned first, unsigned count, unsigned step = 1);
llvm::Value* emit_concatenated(llvm::IRBuilderBase& b, llvm::SmallVector<llvm::Value*, 8> parts);

/// Where a matrix lies in memory: element (row, column) is at base + row * row_step + column * column_step elements.
struct Place {
  llvm::Value* base = nullptr;
  llvm::Value *row_step = nullptr, *column_step = nullptr;
};

bool is_one(const llvm::Value* value);
/// From (p, pitch, origin, transpose) or (p, dims, strides, origin).
Place emit_place(llvm::IRBuilderBase& b, llvm::Type* element, llvm::ArrayRef<llvm::Value*> operands);
llvm::Value* emit_address(llvm::IRBuilderBase& b, llvm::Type* element, const Place& place, unsigned row,
                          unsigned column);
llvm::Align element_alignment(llvm::Type* element);

}  // namespace smelt::aot::cpu::matrix
