// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/builtin_calls.hpp"

#include "smelt/base/result.hpp"

#include "kernel_ir/builtins.hpp"
#include "ops/types.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::input {

llvm::Value* Replacement::hardware(std::string_view attribute, char component, llvm::Type* type) {
  llvm::Value* value = kernel_ir::call_builtin(builder_, attribute, component);
  return type->isIntegerTy(32) ? value : builder_.CreateZExtOrTrunc(value, type);
}

llvm::Value* Replacement::hardware_at(std::string_view attribute, llvm::Value* index, uint64_t otherwise,
                                      llvm::Type* type) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(index)) {
    if (constant->getValue().ugt(2)) return llvm::ConstantInt::get(type, otherwise);
    return hardware(attribute, "xyz"[constant->getZExtValue()], type);
  }
  llvm::Value* result = llvm::ConstantInt::get(type, otherwise);
  for (uint64_t i = 3; i-- > 0;) {
    llvm::Value* is_it = builder_.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), i));
    result = builder_.CreateSelect(is_it, hardware(attribute, "xyz"[i], type), result);
  }
  return result;
}

llvm::CallInst* call_air(llvm::IRBuilderBase& builder, std::string_view name, llvm::Type* result,
                         llvm::ArrayRef<llvm::Value*> arguments, bool across_lanes) {
  std::vector<llvm::Type*> parameters;
  for (const llvm::Value* argument : arguments) parameters.push_back(argument->getType());
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee = module.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setDoesNotThrow();
    function->setWillReturn();
    if (across_lanes)
      function->setConvergent();
    else
      function->setDoesNotAccessMemory();
  }
  llvm::CallInst* made = builder.CreateCall(callee, arguments);
  if (across_lanes) made->setConvergent();
  return made;
}

llvm::Value* Replacement::air(std::string_view name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments,
                              bool across_lanes) {
  llvm::CallInst* made = call_air(builder_, name, result, arguments, across_lanes);
  if (llvm::isa<llvm::FPMathOperator>(made) && llvm::isa<llvm::FPMathOperator>(call_)) made->copyFastMathFlags(&call_);
  return made;
}

void Replacement::barrier(bool simdgroup, unsigned flags) {
  air(simdgroup ? "air.simdgroup.barrier" : "air.wg.barrier", builder_.getVoidTy(),
      {builder_.getInt32(flags), builder_.getInt32(1)}, true);
}

void Replacement::finish(llvm::Value* value) {
  if (value) {
    value->takeName(&call_);
    call_.replaceAllUsesWith(value);
  }
  call_.eraseFromParent();
}

std::string air_suffix(llvm::Type* type, bool is_signed, bool says_sign) {
  if (type->isDoubleTy()) return "f64";  // AIR has none: for the CPU alone, or an error that says so
  const std::optional<air::AirType> known = air::air_type(type);
  if (!known || known->lanes > 4) return {};
  if (!known->is_integer() || !says_sign) return air::spell(*known);
  return fmt::format("{}.{}", is_signed ? 's' : 'u', air::spell(*known));
}

}  // namespace smelt::aot::input
