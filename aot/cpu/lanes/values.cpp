// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forms of values: one scalar for the gang, or parts. See emit.hpp.
#include "lanes/emit.hpp"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

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

llvm::Value* Emitter::step_vector(llvm::Type* type, int64_t step) {
  return offset_vector(type, Shape::linear(step));
}

llvm::Value* Emitter::offset_vector(llvm::Type* type, const Shape& form) {
  llvm::SmallVector<llvm::Constant*, 32> offsets;
  for (unsigned lane = 0; lane < options_.lanes; ++lane) {
    const auto offset = static_cast<uint64_t>(form.offset(lane));
    offsets.push_back(llvm::ConstantInt::get(type, llvm::APInt(64, offset).trunc(type->getIntegerBitWidth())));
  }
  return llvm::ConstantVector::get(offsets);
}

llvm::Value* Emitter::splat(llvm::Value* scalar) {
  return builder_.CreateVectorSplat(options_.lanes, scalar);
}

llvm::Value* Emitter::scalar(llvm::Value* value) {
  if (llvm::isa<llvm::UndefValue>(value)) return llvm::Constant::getNullValue(value->getType());
  if (llvm::isa<llvm::Constant>(value)) return value;
  return scalars_.lookup(value);
}

Parts Emitter::constant_parts(llvm::Constant* constant) {
  Parts result;
  llvm::Type* type = constant->getType();
  unsigned elements = 0;
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) elements = vector->getNumElements();
  if (auto* fields = llvm::dyn_cast<llvm::StructType>(type)) elements = fields->getNumElements();
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) elements = static_cast<unsigned>(array->getNumElements());
  if (!type->isVectorTy() && !type->isAggregateType()) {
    result.push_back(llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(options_.lanes), constant));
    return result;
  }
  for (unsigned i = 0; i < elements; ++i) result.append(constant_parts(constant->getAggregateElement(i)));
  return result;
}

Parts Emitter::parts(llvm::Value* value) {
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return constant_parts(constant);
  if (const auto known = parts_.find(value); known != parts_.end()) return known->second;
  // Made from the scalar, and remembered for the rest of this target block only: it must dominate its uses.
  if (made_in_ != builder_.GetInsertBlock()) {
    made_here_.clear();
    made_in_ = builder_.GetInsertBlock();
  }
  if (const auto made = made_here_.find(value); made != made_here_.end()) return made->second;
  llvm::Value* base = scalar(value);
  Parts result;
  if (const Shape form = shape(value); form.has_offsets()) {
    if (value->getType()->isPointerTy()) {
      result.push_back(builder_.CreateGEP(builder_.getInt8Ty(), base, offset_vector(builder_.getInt64Ty(), form)));
    } else {
      result.push_back(builder_.CreateAdd(splat(base), offset_vector(value->getType(), form)));
    }
  } else if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType())) {
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      result.push_back(splat(builder_.CreateExtractElement(base, i)));
    }
  } else if (auto* fields = llvm::dyn_cast<llvm::StructType>(value->getType())) {
    for (unsigned i = 0; i < fields->getNumElements(); ++i) {
      result.push_back(splat(builder_.CreateExtractValue(base, i)));
    }
  } else {
    result.push_back(splat(base));
  }
  made_here_[value] = result;
  return result;
}

llvm::Value* Emitter::of_first_lane(llvm::Value* value) {
  if (llvm::isa<llvm::Constant>(value) || shape(value).is_uniform()) return scalar(value);
  const Parts all = parts(value);
  llvm::Value* lane = first_lane(mask());
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (!vector) return builder_.CreateExtractElement(all.front(), lane);
  llvm::Value* result = llvm::PoisonValue::get(vector);
  for (unsigned i = 0; i < all.size(); ++i) {
    result = builder_.CreateInsertElement(result, builder_.CreateExtractElement(all[i], lane), i);
  }
  return result;
}

// A constant matrix says what every lane holds at positions 0 and 1 (lower/collectives.hpp); the rest of it is empty.
llvm::Value* Emitter::matrix(llvm::Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant) return scalars_.lookup(value);
  if (llvm::isa<llvm::UndefValue>(constant)) return llvm::Constant::getNullValue(constant->getType());
  llvm::SmallVector<llvm::Constant*, 64> elements(64);
  for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
    for (unsigned slot : {0u, 1u}) elements[matrix_element(lane, slot)] = constant->getAggregateElement(slot);
  }
  return llvm::ConstantVector::get(elements);
}

llvm::Value* Emitter::shuffle(llvm::Value* vector, llvm::function_ref<int(unsigned)> source) {
  llvm::SmallVector<int, 32> sources;
  for (unsigned lane = 0; lane < options_.lanes; ++lane) sources.push_back(source(lane));
  return builder_.CreateShuffleVector(vector, sources);
}

// Lane 0's elements, lane 1's elements, ...; places without a part (stride above their number) are left empty.
llvm::Value* Emitter::interleave(const Parts& parts, unsigned stride) {
  llvm::SmallVector<llvm::Value*, 4> padded(parts.begin(), parts.end());
  while (padded.size() < stride) padded.push_back(llvm::PoisonValue::get(parts.front()->getType()));
  llvm::SmallVector<int, 128> order;
  for (unsigned lane = 0; lane < options_.lanes; ++lane) {
    for (unsigned i = 0; i < stride; ++i) {
      order.push_back(i < parts.size() ? static_cast<int>(i * options_.lanes + lane) : -1);
    }
  }
  return builder_.CreateShuffleVector(llvm::concatenateVectors(builder_, padded), order);
}

Parts Emitter::deinterleave(llvm::Value* wide_value, unsigned stride, unsigned count) {
  Parts result;
  for (unsigned i = 0; i < count; ++i) {
    result.push_back(shuffle(wide_value, [&](unsigned lane) { return static_cast<int>(lane * stride + i); }));
  }
  return result;
}

}  // namespace smelt::aot::cpu::lanes
