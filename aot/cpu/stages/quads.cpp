// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stages/quads.hpp"

#include "ops/intrinsics.hpp"
#include "ops/texture_operation.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::cpu {
namespace {

using llvm::Value;

/// That every operation used here has had its form since, and has it still.
constexpr Version kForms{2, 6};

class QuadLowering {
 public:
  QuadLowering(llvm::Function& function, Value& thread) : module_(*function.getParent()), thread_(thread) {}

  Result<void> lower(llvm::CallInst& call) {
    const llvm::StringRef name = call.getCalledFunction()->getName();
    llvm::IRBuilder<> builder(&call);
    Value* made = nullptr;
    if (name.starts_with("air.dfdx.")) {
      SMELT_TRY(made, derivative(builder, call.getArgOperand(0), kX));
    } else if (name.starts_with("air.dfdy.")) {
      SMELT_TRY(made, derivative(builder, call.getArgOperand(0), kY));
    } else if (name.starts_with("air.fwidth.")) {
      SMELT_TRY(Value * x, derivative(builder, call.getArgOperand(0), kX));
      SMELT_TRY(Value * y, derivative(builder, call.getArgOperand(0), kY));
      made = builder.CreateFAdd(builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x),
                                builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, y));
    } else if (const auto operation = air::texture_operation_of(name)) {
      SMELT_TRY(made, sample(builder, call, *operation));
    }
    if (made == nullptr) return {};
    call.replaceAllUsesWith(made);
    call.eraseFromParent();
    return {};
  }

 private:
  // Of the thread's number, and of the neighbour's distance.
  static constexpr uint32_t kX = 1, kY = 2;

  /// "f32", "v2f16"; empty for what has no derivative.
  static std::string suffix_of(llvm::Type& type) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type);
    const llvm::Type* const scalar = type.getScalarType();
    if (!scalar->isFloatTy() && !scalar->isHalfTy()) return {};
    return (vector != nullptr ? "v" + std::to_string(vector->getNumElements()) : std::string()) +
           (scalar->isFloatTy() ? "f32" : "f16");
  }

  /// The right or lower one of the pair minus the other: the same for both.
  Result<Value*> derivative(llvm::IRBuilder<>& builder, Value* value, uint32_t axis) {
    const std::string suffix = suffix_of(*value->getType());
    if (suffix.empty()) return fail(Errc::unsupported, "a derivative of something other than float and half");
    SMELT_TRY(llvm::Function * shuffle, air::declare(module_, "air.quad_shuffle_xor." + suffix, kForms));
    Value* const neighbour = builder.CreateCall(shuffle, {value, builder.getInt16(static_cast<uint16_t>(axis))});
    Value* const is_second = builder.CreateIsNotNull(builder.CreateAnd(&thread_, builder.getInt32(axis)));
    return builder.CreateFSub(builder.CreateSelect(is_second, value, neighbour),
                              builder.CreateSelect(is_second, neighbour, value));
  }

  /// With gradients; null where the call says its level, or its texture has but one.
  Result<Value*> sample(llvm::IRBuilder<>& builder, llvm::CallInst& call, air::TextureOperation operation) {
    if (operation.verb != air::TextureOperation::Verb::sample || operation.has_gradient || operation.axes() == 1)
      return nullptr;
    SMELT_TRY(air::TextureOperands operands, air::read_texture_operands(operation, call));
    const auto* const is_level = llvm::dyn_cast_or_null<llvm::ConstantInt>(operands.is_level);
    if (is_level == nullptr || is_level->isOne()) return nullptr;
    SMELT_TRY(operands.gradients[0], derivative(builder, operands.coordinate, kX));
    SMELT_TRY(operands.gradients[1], derivative(builder, operands.coordinate, kY));
    if (const auto* bias = llvm::dyn_cast<llvm::ConstantFP>(operands.lod); bias == nullptr || !bias->isZero()) {
      // A level more is a gradient twice as long.
      SMELT_TRY(llvm::Function * power, air::declare(module_, "air.exp2.f32", kForms));
      Value* longer = builder.CreateCall(power, {operands.lod});
      longer = builder.CreateVectorSplat(operation.axes(), longer);
      for (Value*& gradient : operands.gradients) gradient = builder.CreateFMul(gradient, longer);
    }
    operation.has_gradient = true;
    const auto [head, texel] = call.getCalledFunction()->getName().split("." + operation.texel.str());
    const std::string name = (head + "_grad." + operation.texel).str();
    llvm::SmallVector<Value*, 12> arguments =
        air::texture_operands_for(operation, operands, builder, Version{2, 7}, nullptr);
    llvm::SmallVector<llvm::Type*, 12> types;
    for (const Value* argument : arguments) types.push_back(argument->getType());
    const auto callee = module_.getOrInsertFunction(name, llvm::FunctionType::get(call.getType(), types, false));
    return builder.CreateCall(callee, arguments);
  }

  llvm::Module& module_;
  Value& thread_;
};

}  // namespace

Result<void> lower_quads(llvm::Function& function, llvm::Value& thread) {
  llvm::SmallVector<llvm::CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (call->getCalledFunction() != nullptr) calls.push_back(call);
  QuadLowering lowering(function, thread);
  for (llvm::CallInst* call : calls) SMELT_TRY_VOID(lowering.lower(*call));
  return {};
}

}  // namespace smelt::aot::cpu
