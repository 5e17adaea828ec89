// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/layout.hpp"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"

namespace smelt::aot::cpu::lanes {
namespace {

void flatten(llvm::Type* type, uint64_t offset, const llvm::DataLayout& layout, LaneLayout& result) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    const uint64_t bytes = layout.getTypeStoreSize(vector->getElementType()).getFixedValue();
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      result.fields.push_back({vector->getElementType(), offset + i * bytes});
    }
  } else if (auto* fields = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* placed = layout.getStructLayout(fields);
    for (unsigned i = 0; i < fields->getNumElements(); ++i) {
      flatten(fields->getElementType(i), offset + placed->getElementOffset(i).getFixedValue(), layout, result);
    }
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const uint64_t bytes = layout.getTypeAllocSize(array->getElementType()).getFixedValue();
    for (uint64_t i = 0; i < array->getNumElements(); ++i) {
      flatten(array->getElementType(), offset + i * bytes, layout, result);
    }
  } else {
    result.fields.push_back({type, offset});
  }
}

}  // namespace

LaneLayout layout_of(llvm::Type* type, const llvm::DataLayout& layout) {
  LaneLayout result;
  flatten(type, 0, layout, result);
  if (result.fields.empty()) return result;
  result.element_bytes = layout.getTypeStoreSize(result.fields.front().type).getFixedValue();
  result.is_array = true;
  for (size_t i = 0; i < result.fields.size(); ++i) {
    result.is_array &=
        result.fields[i].type == result.fields.front().type && result.fields[i].offset == i * result.element_bytes;
  }
  return result;
}

}  // namespace smelt::aot::cpu::lanes
