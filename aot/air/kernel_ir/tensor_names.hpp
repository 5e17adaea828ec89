// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of tensors and their products (docs/formats/air.md 3.14), which several parts of the compiler must know.
#pragma once

#include "llvm/ADT/STLExtras.h"
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

/// What the front end calls, until the legaliser makes Apple's operations of it (legalise/tensors.cpp).
inline constexpr llvm::StringLiteral kNeutralTensor = "smelt.tensor.";

/// A type of elements: in the names of products, as a code in their operands, in a tensor's descriptor, and its size.
struct TensorElement {
  llvm::StringLiteral name;
  uint32_t code;
  uint32_t number;
  uint32_t bytes;
  bool is_float;
};
inline constexpr TensorElement kTensorElements[] = {
    {"f32", 0x10000020, 0, 4, true}, {"f16", 0x10000010, 1, 2, true},  {"b16", 0x90000010, 2, 2, true},
    {"i8", 0x20000008, 3, 1, false}, {"ui8", 0x00000008, 4, 1, false}, {"i32", 0x20000020, 7, 4, false},
};
/// Null for what is none of them.
inline const TensorElement* tensor_element(llvm::StringRef name) {
  const auto* const found = llvm::find_if(kTensorElements, [&](const TensorElement& one) { return one.name == name; });
  return found != std::end(kTensorElements) ? found : nullptr;
}
inline const TensorElement* tensor_element(uint64_t code) {
  const auto* const found =
      llvm::find_if(kTensorElements, [&](const TensorElement& one) { return one.code == static_cast<uint32_t>(code); });
  return found != std::end(kTensorElements) ? found : nullptr;
}

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
