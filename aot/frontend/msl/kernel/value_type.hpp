// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's type for what a stage gets or gives.
#pragma once

#include "kernel_ir/handles.hpp"
#include "msl/facts/kernel_facts.hpp"

#include "llvm/IR/DerivedTypes.h"

namespace smelt::aot::msl {

inline llvm::Type* value_type(llvm::LLVMContext& context, const ValueShape& shape) {
  if (shape.is_interpolant) return llvm::PointerType::get(context, 1);
  if (shape.space == kernel_ir::kImageblockSpace && shape.is_wrapped) return kernel_ir::imageblock_type(context);
  if (shape.space) {
    llvm::Type* pointer = llvm::PointerType::get(context, *shape.space);
    if (!shape.is_wrapped) return pointer;
    return llvm::StructType::get(context, llvm::ArrayRef<llvm::Type*>(pointer));
  }
  llvm::Type* type = !shape.is_float    ? static_cast<llvm::Type*>(llvm::Type::getIntNTy(context, shape.bits))
                     : shape.bits == 16 ? llvm::Type::getHalfTy(context)
                                        : llvm::Type::getFloatTy(context);
  if (shape.lanes != 1) type = llvm::FixedVectorType::get(type, shape.lanes);
  return shape.count == 0 ? type : llvm::ArrayType::get(type, shape.count);
}

}  // namespace smelt::aot::msl
