// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of tensors and their products (docs/formats/air.md 3.14), which several parts of the compiler must know.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"

namespace smelt::aot::kernel_ir {

/// Functions of Apple's library of products: declared in kTensorSection, and bound when a Mac makes the pipeline.
inline constexpr llvm::StringLiteral kTensorOperation = "__tensorops_impl_";
inline constexpr llvm::StringLiteral kTensorRun = "__tensorops_impl_matmul2d_op_run_";
inline constexpr llvm::StringLiteral kTensorSection = "air.externally_defined";

/// What a product is told of itself, by the address of a thread's copy: {m, n, k, transpose left, transpose right,
/// relaxed precision, mode}.
inline constexpr llvm::StringLiteral kMatmulDescriptor = "struct.mpp::tensor_ops::matmul2d_descriptor";

/// Of a function: its result is the size of thread memory, known when the GPU's code is made.
inline constexpr llvm::StringLiteral kDeferredSize = "deferred-static-alloca-size";

/// What the front end calls, until the legaliser makes Apple's operations of it (air/passes/tensors.cpp).
inline constexpr llvm::StringLiteral kNeutralTensor = "smelt.tensor.";

inline bool is_tensor_operation(llvm::StringRef function_name) {
  return function_name.starts_with(kTensorOperation);
}

/// Descriptors are the one kind of constant that Apple's compiler leaves in space 0.
inline bool is_matmul_descriptor(const llvm::GlobalVariable& global) {
  const auto* type = llvm::dyn_cast<llvm::StructType>(global.getValueType());
  return type != nullptr && type->hasName() && type->getName() == kMatmulDescriptor && global.isConstant() &&
         global.hasDefinitiveInitializer();
}

/// Thread memory of a tensor, whose size the GPU's compiler knows.
inline bool has_deferred_size(const llvm::AllocaInst& memory) {
  const auto* size = llvm::dyn_cast<llvm::CallInst>(memory.getArraySize());
  const llvm::Function* callee = size != nullptr ? size->getCalledFunction() : nullptr;
  return callee != nullptr && callee->hasFnAttribute(kDeferredSize);
}

}  // namespace smelt::aot::kernel_ir
