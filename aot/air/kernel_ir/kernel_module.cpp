// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_ir/kernel_module.hpp"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace smelt::aot {

KernelModule::KernelModule() = default;
KernelModule::KernelModule(KernelModule&&) noexcept = default;
KernelModule& KernelModule::operator=(KernelModule&& other) noexcept {
  module = std::move(other.module);  // the old module goes before its context
  context = std::move(other.context);
  return *this;
}
KernelModule::~KernelModule() = default;

}  // namespace smelt::aot
