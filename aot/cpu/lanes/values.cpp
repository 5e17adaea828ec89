// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forms of values: one scalar for the gang, or parts. See context.hpp.
#include "lanes/context.hpp"
#include "lower/collectives.hpp"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace smelt::aot::cpu::lanes {
namespace {

llvm::Value* offset_vector(llvm::Type* type, const Shape& form, unsigned lanes) {
  llvm::SmallVector<llvm::Constant*, 32> offsets;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const auto offset = static_cast<uint64_t>(form.offset(lane));
    offsets.push_back(llvm::ConstantInt::get(type, llvm::APInt(64, offset).trunc(type->getIntegerBitWidth())));
  }
  return llvm::ConstantVector::get(offsets);
}

Parts constant_parts(llvm::Constant* constant, unsigned lanes) {
  Parts result;
  llvm::Type* type = constant->getType();
  unsigned elements = 0;
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) elements = vector->getNumElements();
  if (auto* fields = llvm::dyn_cast<llvm::StructType>(type)) elements = fields->getNumElements();
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) elements = static_cast<unsigned>(array->getNumElements());
  if (!type->isVectorTy() && !type->isAggregateType()) {
    result.push_back(llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes), constant));
    return result;
  }
  for (unsigned i = 0; i < elements; ++i) result.append(constant_parts(constant->getAggregateElement(i), lanes));
  return result;
}

}  // namespace

llvm::Value* GangContext::step_vector(llvm::Type* type, int64_t step) {
  return offset_vector(type, Shape::linear(step), options.lanes);
}

llvm::ArrayRef<llvm::Value*> GangContext::guards(const llvm::Value* value) const {
  const auto known = guards_.find(value);
  return known == guards_.end() ? llvm::ArrayRef<llvm::Value*>() : known->second;
}

void GangContext::set_guards(const llvm::Value* value, llvm::ArrayRef<llvm::Value*> guards) {
  guards_[value].assign(guards.begin(), guards.end());
}

llvm::Value* GangContext::splat(llvm::Value* scalar) {
  return builder.CreateVectorSplat(options.lanes, scalar);
}

llvm::Value* GangContext::scalar(llvm::Value* value) {
  if (llvm::isa<llvm::UndefValue>(value)) return llvm::Constant::getNullValue(value->getType());
  if (llvm::isa<llvm::Constant>(value)) return value;
  return scalars_.lookup(value);
}

Parts GangContext::parts(llvm::Value* value) {
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return constant_parts(constant, options.lanes);
  if (const auto known = parts_.find(value); known != parts_.end()) return known->second;
  // Made from the scalar, and remembered for the rest of this target block only: it must dominate its uses.
  if (made_in_ != builder.GetInsertBlock()) {
    made_here_.clear();
    made_in_ = builder.GetInsertBlock();
  }
  if (const auto made = made_here_.find(value); made != made_here_.end()) return made->second;
  if (const auto make = on_demand_.find(value); make != on_demand_.end()) {
    Parts made = make->second(*this, *llvm::cast<llvm::Instruction>(value));
    return made_here_[value] = std::move(made);
  }
  llvm::Value* base = scalar(value);
  Parts result;
  if (const Shape form = shape(value); form.has_offsets()) {
    if (value->getType()->isPointerTy()) {
      result.push_back(
          builder.CreateGEP(builder.getInt8Ty(), base, offset_vector(builder.getInt64Ty(), form, options.lanes)));
    } else {
      result.push_back(builder.CreateAdd(splat(base), offset_vector(value->getType(), form, options.lanes)));
    }
  } else if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType())) {
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      result.push_back(splat(builder.CreateExtractElement(base, i)));
    }
  } else if (auto* fields = llvm::dyn_cast<llvm::StructType>(value->getType())) {
    for (unsigned i = 0; i < fields->getNumElements(); ++i) {
      result.push_back(splat(builder.CreateExtractValue(base, i)));
    }
  } else {
    result.push_back(splat(base));
  }
  made_here_[value] = result;
  return result;
}

// A constant matrix says what every lane holds at positions 0 and 1 (lower/collectives.hpp); the rest of it is empty.
llvm::Value* GangContext::matrix(llvm::Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant) return scalars_.lookup(value);
  if (llvm::isa<llvm::UndefValue>(constant)) return llvm::Constant::getNullValue(constant->getType());
  llvm::SmallVector<llvm::Constant*, 64> elements(64);
  for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
    for (unsigned slot : {0u, 1u}) elements[matrix_element(lane, slot)] = constant->getAggregateElement(slot);
  }
  return llvm::ConstantVector::get(elements);
}

llvm::Value* GangContext::shuffle(llvm::Value* vector, llvm::function_ref<int(unsigned)> lane_of) {
  llvm::SmallVector<int, 32> sources;
  for (unsigned lane = 0; lane < options.lanes; ++lane) sources.push_back(lane_of(lane));
  return builder.CreateShuffleVector(vector, sources);
}

// Lane 0's elements, lane 1's elements, ...; places without a part (stride above their number) are left empty.
llvm::Value* GangContext::interleave(const Parts& parts, unsigned stride) {
  llvm::SmallVector<llvm::Value*, 4> padded(parts.begin(), parts.end());
  while (padded.size() < stride) padded.push_back(llvm::PoisonValue::get(parts.front()->getType()));
  llvm::SmallVector<int, 128> order;
  for (unsigned lane = 0; lane < options.lanes; ++lane) {
    for (unsigned i = 0; i < stride; ++i) {
      order.push_back(i < parts.size() ? static_cast<int>(i * options.lanes + lane) : -1);
    }
  }
  return builder.CreateShuffleVector(llvm::concatenateVectors(builder, padded), order);
}

Parts GangContext::deinterleave(llvm::Value* wide_value, unsigned stride, unsigned count) {
  Parts result;
  for (unsigned i = 0; i < count; ++i) {
    result.push_back(shuffle(wide_value, [&](unsigned lane) { return static_cast<int>(lane * stride + i); }));
  }
  return result;
}

}  // namespace smelt::aot::cpu::lanes
