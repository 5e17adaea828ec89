// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bitcast between <N x i1> and iN aborts Apple's compiler (docs/formats/air.md 3.5): it is written out lane by lane.
// Lane 0 is bit 0. Where single lanes are asked for, those alone: LLVM writes a bool of a bool2 as one lane of 16.
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

const llvm::FixedVectorType* bool_vector(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getElementType()->isIntegerTy(1) ? vector : nullptr;
}

llvm::Value* gather_bits(llvm::IRBuilder<>& builder, llvm::Value* vector, unsigned lanes) {
  llvm::Type* const type = builder.getIntNTy(lanes);
  llvm::Value* bits = nullptr;
  for (unsigned i = 0; i < lanes; ++i) {
    llvm::Value* bit = builder.CreateZExt(builder.CreateExtractElement(vector, builder.getInt64(i)), type);
    if (i != 0) bit = builder.CreateShl(bit, i);
    bits = bits ? builder.CreateOr(bits, bit) : bit;
  }
  return bits;
}

llvm::Value* spread_bits(llvm::IRBuilder<>& builder, llvm::Value* bits, llvm::Type* type, unsigned lanes) {
  llvm::Value* vector = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < lanes; ++i) {
    llvm::Value* const moved = i == 0 ? bits : builder.CreateLShr(bits, i);
    vector = builder.CreateInsertElement(vector, builder.CreateTrunc(moved, builder.getInt1Ty()), builder.getInt64(i));
  }
  return vector;
}

/// The bit as a bool.
llvm::Value* bit_of(llvm::IRBuilder<>& builder, llvm::Value* bits, unsigned index) {
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(bits->getType())) {
    const unsigned width = vector->getScalarSizeInBits();
    // A vector of bools as bytes: the bool itself.
    auto* const widened = llvm::dyn_cast<llvm::ZExtInst>(bits);
    if (widened && bool_vector(widened->getSrcTy())) {
      if (index % width != 0) return builder.getFalse();
      return builder.CreateExtractElement(widened->getOperand(0), builder.getInt64(index / width));
    }
    bits = builder.CreateExtractElement(bits, builder.getInt64(index / width));
    index %= width;
  }
  if (index != 0) bits = builder.CreateLShr(bits, index);
  return builder.CreateTrunc(bits, builder.getInt1Ty());
}

/// Replaces the extractions of single lanes. True: the cast has no other user.
bool extract_bits(llvm::BitCastInst& cast, unsigned lanes) {
  llvm::Value* const bits = cast.getOperand(0);
  if (!bits->getType()->isIntOrIntVectorTy()) return false;
  for (llvm::User* user : llvm::make_early_inc_range(cast.users())) {
    auto* const extract = llvm::dyn_cast<llvm::ExtractElementInst>(user);
    const auto* const index = extract ? llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand()) : nullptr;
    if (index == nullptr || index->getValue().uge(lanes)) continue;
    llvm::IRBuilder<> builder(extract);
    extract->replaceAllUsesWith(bit_of(builder, bits, static_cast<unsigned>(index->getZExtValue())));
    extract->eraseFromParent();
  }
  return cast.use_empty();
}

}  // namespace

Result<void> bool_vectors(PassContext& context) {
  std::vector<llvm::BitCastInst*> casts;
  for (llvm::Instruction* instruction : instructions_of(context.module))
    if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(instruction)) casts.push_back(cast);
  for (llvm::BitCastInst* cast : casts) {
    const auto* from = bool_vector(cast->getSrcTy());
    const auto* to = bool_vector(cast->getDestTy());
    if (!from && !to) continue;
    if (!from && extract_bits(*cast, to->getNumElements())) {
      cast->eraseFromParent();
      continue;
    }
    llvm::IRBuilder<> builder(cast);
    llvm::Value* value = cast->getOperand(0);
    if (from) value = gather_bits(builder, value, from->getNumElements());
    if (!from && !value->getType()->isIntegerTy())
      value = builder.CreateBitCast(value, builder.getIntNTy(to->getNumElements()));
    value = to ? spread_bits(builder, value, cast->getDestTy(), to->getNumElements())
               : builder.CreateBitCast(value, cast->getDestTy());
    cast->replaceAllUsesWith(value);
    cast->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::air
