// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "legalise/math_expansions.hpp"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

/// Lanes [from, from + count) of a vector; a scalar when count is 1.
llvm::Value* lanes_of(llvm::IRBuilder<>& ir, llvm::Value* value, unsigned from, unsigned count) {
  if (!value->getType()->isVectorTy()) return value;
  if (count == 1) return ir.CreateExtractElement(value, ir.getInt64(from));
  llvm::SmallVector<int, 4> mask;
  for (unsigned i = 0; i < count; ++i) mask.push_back(static_cast<int>(from + i));
  return ir.CreateShuffleVector(value, mask);
}

llvm::Value* put_lanes(llvm::IRBuilder<>& ir, llvm::Value* whole, llvm::Value* part, unsigned from, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    llvm::Value* lane = count == 1 ? part : ir.CreateExtractElement(part, ir.getInt64(i));
    whole = ir.CreateInsertElement(whole, lane, ir.getInt64(from + i));
  }
  return whole;
}

}  // namespace

Result<llvm::Value*> MathBuilder::air(std::string_view operation, llvm::ArrayRef<llvm::Value*> operands, bool has_fast,
                                      char signedness) {
  llvm::Type* const type = operands[0]->getType();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector && (vector->getNumElements() > 4 || vector->getNumElements() == 1)) {
    llvm::Value* whole = nullptr;
    for (unsigned at = 0; at < vector->getNumElements(); at += 4) {
      const unsigned count = std::min(4u, vector->getNumElements() - at);
      llvm::SmallVector<llvm::Value*, 3> parts;
      for (llvm::Value* operand : operands) parts.push_back(lanes_of(ir, operand, at, count));
      SMELT_TRY(llvm::Value* const part, air(operation, parts, has_fast, signedness));
      if (!whole)
        whole = llvm::PoisonValue::get(
            llvm::FixedVectorType::get(part->getType()->getScalarType(), vector->getNumElements()));
      whole = put_lanes(ir, whole, part, at, count);
    }
    return whole;
  }
  const auto known = air_type(type);
  if (!known) return refuse(replaced, "air.{} does not exist for {}", operation, text_of(*type));
  const bool wants_fast = has_fast && known->kind == AirType::Kind::single &&
                          (ir.getFastMathFlags().approxFunc() || context.options.math.fast_functions);
  const std::string name =
      mangle(wants_fast ? fmt::format("fast_{}", operation) : std::string(operation), *known, signedness);
  auto call = call_air(ir, context, name, operands);
  if (!call) return refuse(replaced, "{}", call.error().message);
  return *call;
}

Result<llvm::Value*> expand_frem(MathBuilder& math) {
  llvm::Value* const x = math.replaced.getOperand(0);
  llvm::Value* const y = math.replaced.getOperand(1);
  // Half and bfloat remainders are exact in float: the result needs no more bits than the operands have.
  if (x->getType()->getScalarType()->isFloatTy()) return math.air("fmod", {x, y}, true);
  llvm::Type* const single = x->getType()->getWithNewType(math.ir.getFloatTy());
  SMELT_TRY(llvm::Value* const wide,
            math.air("fmod", {math.ir.CreateFPExt(x, single), math.ir.CreateFPExt(y, single)}, true));
  return math.ir.CreateFPTrunc(wide, x->getType());
}

Result<llvm::Value*> expand_intrinsic(MathBuilder& math, llvm::IntrinsicInst& call) {
  for (auto* expand : {expand_float_intrinsic, expand_integer_intrinsic, expand_vector_intrinsic}) {
    SMELT_TRY(llvm::Value* const made, expand(math, call));
    if (made) return made;
  }
  return refuse(call, "'{}' has no meaning in AIR", call.getCalledFunction()->getName());
}

}  // namespace smelt::aot::air
