// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moving lanes' elements between memory, where each lane's lie side by side, and rows, one for each element, of all
// lanes. Written in place, a `float4` for each of 32 lanes is some 200 instructions, and putting it together is what
// instruction selection is slowest at; so in large kernels it is a call of a function in the module, on rows in memory.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace smelt::aot::cpu::lanes {

/// Elements that move together: bits and nothing else, whatever their type.
struct Move {
  unsigned bits = 0;    ///< of one element: 8, 16, 32 or 64
  unsigned count = 0;   ///< elements of a lane, at least 1
  unsigned stride = 0;  ///< elements from a lane to the next, at least `count`; 0: each lane has a pointer of its own
  unsigned lanes = 0;   ///< 16 or 32
  bool words = false;   ///< with stride 0: several elements at once, in registers that the caller then has to save
};

/// Where lanes' elements lie when a narrow number that counts the lanes may wrap round before it is widened:
///
///   lane 0's address + apart * lane + scale * (widened(first + step * lane) - widened(first))
struct WrappingIndex {
  unsigned bits = 0;  ///< of the narrow number
  bool is_signed = false;
  int64_t step = 0;   ///< from a lane to the next
  int64_t scale = 0;  ///< bytes
  int64_t apart = 0;  ///< bytes
};

/// Calls a function that reads `count` elements of each lane whose bit in `on` is set into `count` rows of `lanes`
/// elements; what a row has for other lanes means nothing. Operands: `memory`, a pointer to lane 0's elements, aligned
/// to one of them, or, with stride 0, to `lanes` pointers; `rows`, 64-byte aligned memory that nothing else reaches;
/// `on`, an i32 with some bit set. Where all lanes are on, the places between lanes' elements are read too.
void call_load(llvm::IRBuilderBase& builder, const Move& move, llvm::ArrayRef<llvm::Value*> memory_rows_on);

/// The same, lane after lane, by what `index` says: `memory` is lane 0's address, and `first` the narrow number of it.
/// `move.stride` is 0. For cold code: some instructions where addresses of all lanes would be dozens.
void call_wrapping_load(llvm::IRBuilderBase& builder, const Move& move, const WrappingIndex& index,
                        llvm::ArrayRef<llvm::Value*> memory_rows_on, llvm::Value* first);
void call_wrapping_store(llvm::IRBuilderBase& builder, const Move& move, const WrappingIndex& index,
                         llvm::ArrayRef<llvm::Value*> memory_rows_on, llvm::Value* first);

/// As call_load, from rows to memory. No place is written but the elements of lanes that are on. With stride 0, lanes
/// are written in their order.
void call_store(llvm::IRBuilderBase& builder, const Move& move, llvm::ArrayRef<llvm::Value*> memory_rows_on);

}  // namespace smelt::aot::cpu::lanes
