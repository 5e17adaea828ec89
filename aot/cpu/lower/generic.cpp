// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/generic.hpp"

#include "llvm_support/mem_intrinsics.hpp"
#include "llvm_support/metal_operations.hpp"
#include "lower/lower.hpp"
#include "lower/operation.hpp"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace smelt::aot::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

struct LibraryIntrinsic {
  llvm::StringRef name;       ///< after "llvm.", before the type
  llvm::StringRef operation;  ///< the air operation of the same meaning
  bool has_fast = false;
};
constexpr LibraryIntrinsic kLibraryIntrinsics[] = {
    {"acos", "acos"},       {"asin", "asin"},     {"atan", "atan"},     {"atan2", "atan2"},
    {"cos", "cos", true},   {"cosh", "cosh"},     {"exp", "exp", true}, {"exp10", "exp10"},
    {"exp2", "exp2", true}, {"ldexp", "ldexp"},   {"log", "log", true}, {"log10", "log10", true},
    {"log2", "log2", true}, {"pow", "pow", true}, {"powi", "powi"},     {"sin", "sin", true},
    {"sinh", "sinh"},       {"tan", "tan", true}, {"tanh", "tanh"},
};

const LibraryIntrinsic* find_intrinsic(llvm::StringRef name) {
  if (!name.consume_front("llvm.")) return nullptr;
  name = name.split('.').first;
  for (const LibraryIntrinsic& entry : kLibraryIntrinsics)
    if (entry.name == name) return &entry;
  return nullptr;
}

Result<void> lower_library_intrinsic(llvm::CallInst& call, const LibraryIntrinsic& entry) {
  llvm::IRBuilder<> builder(&call);
  llvm::SmallVector<Value*, 2> operands(call.args());
  std::string operation = entry.operation.str();
  if (operation == "powi") {
    Value* exponent = builder.CreateSIToFP(operands[1], builder.getFloatTy());
    if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(call.getType()))
      exponent = builder.CreateVectorSplat(vector->getNumElements(), exponent);
    operands[1] = exponent;
    operation = "pow";
  } else if (entry.has_fast && call.hasApproxFunc()) {
    operation = "fast_" + operation;
  }
  SMELT_TRY(Value * result, emit_runtime_call(builder, operation, operands));
  call.replaceAllUsesWith(result);
  call.eraseFromParent();
  return {};
}

Result<void> lower_remainder(llvm::BinaryOperator& remainder) {
  llvm::IRBuilder<> b(&remainder);
  SMELT_TRY(Value * result, emit_runtime_call(b, "fmod", {remainder.getOperand(0), remainder.getOperand(1)}));
  remainder.replaceAllUsesWith(result);
  remainder.eraseFromParent();
  return {};
}

}  // namespace

bool is_lowered_intrinsic(llvm::StringRef name) {
  return find_intrinsic(name) != nullptr;
}

Result<void> lower_generic(llvm::Function& function, bool expand_memory) {
  llvm::SmallVector<Instruction*, 32> work;
  for (Instruction& instruction : llvm::instructions(function)) work.push_back(&instruction);
  const llvm::TargetTransformInfo costs(function.getParent()->getDataLayout());
  for (Instruction* instruction : work) {
    switch (instruction->getOpcode()) {
      case Instruction::SDiv:
      case Instruction::UDiv:
      case Instruction::SRem:
      case Instruction::URem:
        guard_division(llvm::cast<llvm::BinaryOperator>(*instruction));
        continue;
      case Instruction::FRem:
        SMELT_TRY_VOID(lower_remainder(llvm::cast<llvm::BinaryOperator>(*instruction)));
        continue;
      case Instruction::Call:
        break;
      default:
        continue;
    }
    auto& call = llvm::cast<llvm::CallInst>(*instruction);
    if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&call)) {
      if (expand_memory && becomes_call(*memory)) expand_as_loop(*memory, costs);
      continue;
    }
    const llvm::Function* callee = call.getCalledFunction();
    const LibraryIntrinsic* entry = callee ? find_intrinsic(callee->getName()) : nullptr;
    if (entry) SMELT_TRY_VOID(lower_library_intrinsic(call, *entry));
  }
  return {};
}

void relax_float_assumptions(llvm::Function& function) {
  for (const char* attribute : {"unsafe-fp-math", "no-nans-fp-math", "no-infs-fp-math", "no-signed-zeros-fp-math",
                                "approx-func-fp-math", "no-trapping-math", "denormal-fp-math-f32"})
    function.removeFnAttr(attribute);
  function.addFnAttr("denormal-fp-math", "dynamic,dynamic");
  function.addFnAttr("reciprocal-estimates", "none");
  for (Instruction& instruction : llvm::instructions(function)) {
    if (!llvm::isa<llvm::FPMathOperator>(instruction)) continue;
    llvm::FastMathFlags flags = instruction.getFastMathFlags();
    if (!flags.any()) continue;
    flags.setNoNaNs(false);
    flags.setNoInfs(false);
    instruction.copyFastMathFlags(flags);
  }
}

}  // namespace smelt::aot::cpu
