// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading smelt_cpu_dispatch (schema/cpu_abi.h) from generated code.
#pragma once

#include "smelt/schema/cpu_abi.h"

#include "llvm/IR/IRBuilder.h"

#include <cstddef>

namespace smelt::aot::cpu {

/// A load from memory that nobody writes while a kernel runs: the dispatch block and what hangs on it.
inline llvm::LoadInst* load_constant(llvm::IRBuilderBase& builder, llvm::Type* type, llvm::Value* pointer,
                                     uint64_t offset, const llvm::Twine& name = "") {
  llvm::Value* address =
      offset == 0 ? pointer : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), pointer, offset);
  llvm::LoadInst* load = builder.CreateLoad(type, address, name);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
  return load;
}

#define SMELT_DISPATCH_FIELD(builder, type, dispatch, field) \
  load_constant(builder, type, dispatch, offsetof(smelt_cpu_dispatch, field), #field)

}  // namespace smelt::aot::cpu
