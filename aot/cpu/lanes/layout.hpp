// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace llvm {
class DataLayout;
class Type;
}  // namespace llvm

namespace smelt::aot::cpu::lanes {

/// Where the scalars inside a thread's type lie in memory, and how many parts it has.
struct LaneLayout {
  struct Field {
    llvm::Type* type = nullptr;
    uint64_t offset = 0;
  };
  llvm::SmallVector<Field, 4> fields;
  /// Fields of one type, one after another without gaps: an array of `fields.size()` elements of `element_bytes`.
  bool is_array = false;
  uint64_t element_bytes = 0;
};
LaneLayout layout_of(llvm::Type* type, const llvm::DataLayout& layout);

}  // namespace smelt::aot::cpu::lanes
