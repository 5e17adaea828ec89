// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threadgroup memory: internal globals in space 3 with an undef initialiser, as Apple writes them
// (docs/formats/air.md 1.9). The unsized array of GPU-style IR (`external addrspace(3) global [0 x i8]`) gets its final
// size here. Of a static total above 32 KiB no pipeline can be made: the library holds it, with a warning. With
// LegaliseOptions::cpu_only a kernel with more is for the CPU alone.
#include "interface/limits.hpp"
#include "kernel_ir/cpu_only.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/GlobalStatus.h"

namespace smelt::aot::air {
namespace {

constexpr uint64_t kLeastDynamicAlign = 16;

/// Of kernels for the CPU alone: as much as the allow-list lets one type have.
constexpr uint64_t kMostCpuThreadgroupBytes = 64 << 20;

Result<uint64_t> dynamic_size(const PassContext& context) {
  if (context.options.threadgroup_memory) return *context.options.threadgroup_memory;
  const llvm::Attribute attribute = context.entry->getFnAttribute(kernel_ir::kThreadgroupMemory);
  uint64_t size = 0;
  if (!attribute.isValid()) return 0;
  if (attribute.getValueAsString().getAsInteger(10, size))
    return fail(Errc::compile_failed, "kernel '{}': {}=\"{}\" is not a number of bytes", context.entry->getName(),
                kernel_ir::kThreadgroupMemory, attribute.getValueAsString());
  return size;
}

bool is_unsized(const llvm::GlobalVariable& global, const llvm::DataLayout& layout) {
  return layout.getTypeAllocSize(global.getValueType()).isZero();
}

bool may_be_undef(const llvm::GlobalVariable& global) {
  if (!global.hasInitializer()) return true;
  const llvm::Constant* initializer = global.getInitializer();
  return initializer->isNullValue() || llvm::isa<llvm::UndefValue>(initializer);
}

/// The same variable with a size.
llvm::GlobalVariable* give_size(llvm::GlobalVariable& global, uint64_t size) {
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(global.getContext()), size);
  auto* sized = new llvm::GlobalVariable(*global.getParent(), type, false, llvm::GlobalValue::InternalLinkage,
                                         llvm::UndefValue::get(type), "", &global, llvm::GlobalValue::NotThreadLocal,
                                         kThreadgroup);
  sized->takeName(&global);
  sized->setAlignment(std::max(global.getAlign().valueOrOne(), llvm::Align(kLeastDynamicAlign)));
  global.replaceAllUsesWith(sized);
  global.eraseFromParent();
  return sized;
}

/// Of a kernel for the CPU alone it is a part of each worker's scratch memory.
Result<void> check_total(const PassContext& context, uint64_t total) {
  if (total <= kMostThreadgroupBytes) return {};
  if (!context.options.cpu_only) {
    context.warnings.push_back(too_much_threadgroup_memory(context.entry->getName(), total));
    return {};
  }
  if (total > kMostCpuThreadgroupBytes)
    return fail(Errc::threadgroup_memory_too_large, "kernel '{}' needs {} bytes of threadgroup memory; the CPU has {}",
                context.entry->getName(), total, kMostCpuThreadgroupBytes);
  kernel_ir::mark_cpu_only(context.module);
  return {};
}

}  // namespace

Result<void> threadgroup_memory(PassContext& context) {
  const llvm::DataLayout& layout = context.module.getDataLayout();
  SMELT_TRY(const uint64_t dynamic, dynamic_size(context));
  std::vector<llvm::GlobalVariable*> globals;
  for (llvm::GlobalVariable& global : context.module.globals())
    if (global.getAddressSpace() == kThreadgroup) globals.push_back(&global);

  uint64_t total = 0;
  bool sized_one = false;
  for (llvm::GlobalVariable* global : globals) {
    global->removeDeadConstantUsers();
    if (global->use_empty()) {
      global->eraseFromParent();
      continue;
    }
    const std::string name = global->getName().str();
    if (is_unsized(*global, layout)) {
      if (dynamic == 0)
        return fail(Errc::compile_failed,
                    "kernel '{}' uses '{}', threadgroup memory without a size; give its bytes (--threadgroup-memory, "
                    "or the kernel's metadata)",
                    context.entry->getName(), name);
      if (sized_one)
        return fail(Errc::compile_failed, "kernel '{}' has two threadgroup arrays without a size; '{}' is one of them",
                    context.entry->getName(), name);
      sized_one = true;
      global = give_size(*global, dynamic);
    } else if (!may_be_undef(*global)) {
      return fail(Errc::compile_failed,
                  "'{}' is threadgroup memory with an initial value; nothing could write it first", name);
    }
    global->setInitializer(llvm::UndefValue::get(global->getValueType()));
    global->setLinkage(llvm::GlobalValue::InternalLinkage);
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    global->setConstant(false);
    global->setExternallyInitialized(false);
    if (!global->getAlign()) global->setAlignment(layout.getABITypeAlign(global->getValueType()));
    total = llvm::alignTo(total, *global->getAlign()) + layout.getTypeAllocSize(global->getValueType());
  }
  return check_total(context, total);
}

}  // namespace smelt::aot::air
