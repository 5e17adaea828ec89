// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What asserts and prints have in common: whom they report to.
#include "ir/amdgcn/reports.hpp"

#include "ir/amdgcn/site.hpp"
#include "kernel_ir/attributes.hpp"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::input::amdgcn {

llvm::StringRef callee_of(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? callee->getName() : llvm::StringRef();
}

Result<void> lower_reports(llvm::Module& module, const Origin& origin, const InputOptions& options) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const std::vector<llvm::Instruction*> asserts = asserts_of(function);
    const std::vector<llvm::Instruction*> prints = prints_of(function);
    if (asserts.empty() && prints.empty()) continue;
    SMELT_TRY(const unsigned hidden, count_hidden(function, origin, options));
    if (!kernel_ir::is_kernel(function) || hidden == 0) {
      const std::string first = callee_of(*(asserts.empty() ? prints : asserts).front()).str();
      return fail(
          Errc::unsupported,
          "{}'{}': device_assert and device_print report through the kernel's hidden pointer to scratch memory, "
          "and '{}' has none",
          origin.line_of(first), first, function.getName().str());
    }
    llvm::Argument& report = *function.getArg(static_cast<unsigned>(function.arg_size()) - hidden);
    for (llvm::Instruction* begin : asserts) SMELT_TRY_VOID(lower_assert(*begin, report, origin));
    for (llvm::Instruction* begin : prints) SMELT_TRY_VOID(lower_print(*begin, report, origin));
    for (const auto attribute : {llvm::Attribute::ReadNone, llvm::Attribute::ReadOnly, llvm::Attribute::WriteOnly})
      function.removeParamAttr(report.getArgNo(), attribute);
    function.removeFnAttr(llvm::Attribute::Memory);
    function.addFnAttr(kReports, std::to_string(report.getArgNo()));
  }
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.getName().starts_with("__ockl_") && function.use_empty()) function.eraseFromParent();
  return {};
}

}  // namespace smelt::aot::input::amdgcn
