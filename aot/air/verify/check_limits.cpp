// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no Apple GPU has more of (docs/formats/air.md 6). Slots are counted with the arguments.
#include "interface/limits.hpp"
#include "kernel_ir/cpu_only.hpp"
#include "kernel_ir/tensor_names.hpp"
#include "verify/checks.hpp"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::verify {
namespace {

void check_threads(const EntryNode& entry, Findings& findings) {
  for (unsigned i = 3; i < entry.node->getNumOperands(); ++i) {
    const auto* extra = llvm::dyn_cast_or_null<llvm::MDNode>(entry.node->getOperand(i));
    if (!extra || extra->getNumOperands() < 2) continue;
    const auto* key = llvm::dyn_cast_or_null<llvm::MDString>(extra->getOperand(0));
    const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(extra->getOperand(1));
    if (!key || key->getString() != "air.max_work_group_size") continue;
    if (!value || value->isZero() || value->getValue().ugt(air::kMostThreads))
      findings.error(Check::limit, "", "air.max_work_group_size {}; there are 1 to {} threads in a threadgroup",
                     value ? std::to_string(value->getValue().getLimitedValue()) : "without a number",
                     air::kMostThreads);
  }
}

}  // namespace

void check_limits(const llvm::Module& module, Findings& findings) {
  const llvm::DataLayout& layout = module.getDataLayout();
  uint64_t total = 0;  // of any size, where reflect.hpp's is of modules that were read
  for (const llvm::GlobalVariable& global : module.globals()) {
    const std::string place = fmt::format("global '{}'", global.getName().str());
    const unsigned space = global.getAddressSpace();
    if (space == 3) {
      const uint64_t size = layout.getTypeAllocSize(global.getValueType());
      const llvm::Align align = global.getAlign().value_or(layout.getABITypeAlign(global.getValueType()));
      total = llvm::alignTo(total, align);
      total = size > UINT64_MAX - total ? UINT64_MAX : total + size;
      if (size == 0) findings.error(Check::limit, place, "threadgroup memory without a size");
      if (global.hasInitializer() && !llvm::isa<llvm::UndefValue>(global.getInitializer()))
        findings.error(Check::limit, place, "threadgroup memory with an initial value; want undef");
      if (!global.hasInitializer()) findings.error(Check::limit, place, "threadgroup memory that is defined nowhere");
    } else if (space == 0 && !global.getName().starts_with("llvm.") && !kernel_ir::is_matmul_descriptor(global)) {
      findings.error(Check::limit, place,
                     "a global in address space 0; constants belong to 2, nothing else outlives a thread");
    }
  }
  if (total > air::kMostThreadgroupBytes && kernel_ir::is_cpu_only(module))
    findings.error(Check::limit, "",
                   "{} bytes of threadgroup memory; there are {}, and the kernel is for the CPU alone", total,
                   air::kMostThreadgroupBytes);
  else if (total > air::kMostThreadgroupBytes)  // as Apple's compiler, which writes it
    findings.note(Check::limit, "", "{} bytes of threadgroup memory; there are {}: no pipeline can be made of it",
                  total, air::kMostThreadgroupBytes);
  for (const EntryNode& entry : entries_of(module)) check_threads(entry, findings);
}

}  // namespace smelt::aot::verify
