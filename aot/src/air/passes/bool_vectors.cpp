// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bitcast between <N x i1> and iN aborts Apple's compiler (docs/formats/air.md 3.5): it is written out lane by lane.
// Lane 0 is bit 0.
#include "air/passes/support.hpp"

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

}  // namespace

Result<void> bool_vectors(PassContext& context) {
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(instruction);
    if (!cast) continue;
    const auto* from = bool_vector(cast->getSrcTy());
    const auto* to = bool_vector(cast->getDestTy());
    if (!from && !to) continue;
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
