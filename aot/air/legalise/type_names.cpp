// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "legalise/type_names.hpp"

#include <fmt/format.h>

namespace smelt::aot::air {
namespace {

unsigned memory_bits(unsigned bits) {
  for (const unsigned width : {8u, 16u, 32u, 64u})
    if (bits <= width) return width;
  return (bits + 63) / 64 * 64;
}

std::string scalar_name(const llvm::Type* type) {
  if (type->isHalfTy()) return "half";
  if (type->isBFloatTy()) return "bfloat";
  if (type->isFloatTy()) return "float";
  if (type->isDoubleTy()) return "double";  // of kernels for the CPU alone
  if (!type->isIntegerTy()) return "struct";
  if (type->isIntegerTy(1)) return "bool";
  switch (memory_bits(type->getIntegerBitWidth())) {
    case 8:
      return "char";
    case 16:
      return "short";
    case 32:
      return "int";
    case 64:
      return "long";
    default:
      return "struct";
  }
}

}  // namespace

const llvm::Type* wide_float_in(const llvm::Type* type) {
  if (type->isDoubleTy() || type->isX86_FP80Ty() || type->isFP128Ty() || type->isPPC_FP128Ty()) return type;
  if (type->isPointerTy() || type->isFunctionTy()) return nullptr;
  for (const llvm::Type* part : type->subtypes())
    if (const llvm::Type* found = wide_float_in(part)) return found;
  return nullptr;
}

std::string metal_type_name(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector) return scalar_name(type);
  const std::string element = scalar_name(vector->getElementType());
  if (vector->getNumElements() == 1) return element;
  return vector->getNumElements() <= 4 ? fmt::format("{}{}", element, vector->getNumElements()) : "struct";
}

llvm::Type* memory_type(llvm::Type* type) {
  if (type->isIntegerTy()) return llvm::Type::getIntNTy(type->getContext(), memory_bits(type->getIntegerBitWidth()));
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
      vector && vector->getElementType()->isIntegerTy())
    return llvm::FixedVectorType::get(memory_type(vector->getElementType()), vector->getNumElements());
  return type;
}

llvm::Value* load_value(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::Value* pointer,
                        const llvm::DataLayout& layout) {
  llvm::Type* const held = memory_type(type);
  llvm::Value* value = builder.CreateAlignedLoad(held, pointer, layout.getABITypeAlign(held));
  return held == type ? value : builder.CreateTrunc(value, type);
}

}  // namespace smelt::aot::air
