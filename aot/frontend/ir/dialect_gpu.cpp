// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPU-style IR of other targets: OpenCL C by Clang (spir, spirv), NVVM, or IR of no target at all whose kernels are
// named by the caller. Address spaces follow the triple; AIR's numbers are kept when it says nothing.
#include "ir/dialect.hpp"
#include "kernel_ir/attributes.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot::input {
namespace {

/// Their numbers to AIR's: 0 thread (and generic), 1 device, 2 constant, 3 threadgroup.
std::map<unsigned, unsigned> spaces_of(llvm::StringRef triple) {
  if (triple.starts_with("nvptx")) return {{4, 2}, {5, 0}};
  if (triple.starts_with("amdgcn")) return {{4, 2}, {5, 0}, {6, 2}};
  if (triple.starts_with("spir")) return {{4, 0}};  // spir, spir64, spirv32, spirv64
  return {};
}

bool is_kernel_convention(llvm::CallingConv::ID convention) {
  return convention == llvm::CallingConv::SPIR_KERNEL || convention == llvm::CallingConv::PTX_Kernel ||
         convention == llvm::CallingConv::AMDGPU_KERNEL;
}

/// Of a module that marks nothing: what a compiler for one kernel a file wrote. Not of finished AIR (it says what it
/// is): there a lone function is a helper of other objects.
void mark_only_definition(llvm::Module& module) {
  if (module.getNamedMetadata("air.version")) return;
  llvm::Function* only = nullptr;
  for (llvm::Function& function : module) {
    if (kernel_ir::is_kernel(function) || is_kernel_convention(function.getCallingConv())) return;
    if (function.isDeclaration() || function.hasLocalLinkage() || !function.use_empty()) continue;
    if (only) return;
    only = &function;
  }
  if (only && only->getReturnType()->isVoidTy()) only->addFnAttr(kernel_ir::kKernel);
}

/// !nvvm.annotations = {function, "kernel", 1, "maxntidx", 128, ...}
void read_nvvm_annotations(llvm::Module& module) {
  const auto* list = module.getNamedMetadata("nvvm.annotations");
  if (!list) return;
  for (const llvm::MDNode* node : list->operands()) {
    if (node->getNumOperands() < 1) continue;
    auto* function = llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0));
    if (!function) continue;
    uint64_t threads = 0;
    for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
      const auto* key = llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(i));
      const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node->getOperand(i + 1));
      if (!key || !value || value->getValue().getActiveBits() > 32) continue;
      if (key->getString() == "kernel" && !value->isZero()) function->addFnAttr(kernel_ir::kKernel);
      if (key->getString().starts_with("maxntid")) threads = std::max<uint64_t>(threads, 1) * value->getZExtValue();
    }
    if (threads > 0) kernel_ir::set_max_threads(*function, threads);
  }
}

/// The product of up to three numbers, from "128,1,1" or !{i32 128, i32 1, i32 1}; 0 when it is none.
uint64_t product(llvm::StringRef text) {
  uint64_t result = 1;
  llvm::SmallVector<llvm::StringRef, 3> parts;
  text.split(parts, ',');
  for (const llvm::StringRef part : parts) {
    uint64_t value = 0;
    if (part.trim().getAsInteger(10, value) || value > 65536) return 0;
    result *= value;
  }
  return result;
}
uint64_t product(const llvm::MDNode& node) {
  uint64_t result = 1;
  for (const llvm::MDOperand& operand : node.operands()) {
    const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(operand);
    if (!value || value->getValue().getActiveBits() > 16 || node.getNumOperands() > 3) return 0;
    result *= value->getZExtValue();
  }
  return result;
}

void describe_kernel(llvm::Function& kernel) {
  uint64_t threads = 0;
  if (const llvm::Attribute size = kernel.getFnAttribute("nvvm.maxntid"); size.isValid())
    threads = product(size.getValueAsString());
  if (const llvm::MDNode* size = kernel.getMetadata("reqd_work_group_size")) threads = product(*size);
  if (threads > 0 && !kernel.hasFnAttribute(kernel_ir::kMaxThreads)) kernel_ir::set_max_threads(kernel, threads);

  // Clang keeps OpenCL's names and types beside the function.
  const auto copy = [&](const char* from, const char* to) {
    const llvm::MDNode* list = kernel.getMetadata(from);
    if (!list || list->getNumOperands() != kernel.arg_size()) return;
    for (unsigned i = 0; i < kernel.arg_size(); ++i)
      if (const auto* text = llvm::dyn_cast_or_null<llvm::MDString>(list->getOperand(i)))
        kernel_ir::set_parameter(kernel, i, to, text->getString().rtrim('*'));
  };
  copy("kernel_arg_name", kernel_ir::kArgName);
  copy("kernel_arg_type", kernel_ir::kArgTypeName);
}

/// Clang gives every OpenCL kernel a twin for calls from other kernels; unused, it would only be compiled for nothing.
void drop_unused_twins(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.getName().starts_with("__clang_ocl_kern_imp_") && function.use_empty()) function.eraseFromParent();
}

}  // namespace

Result<void> mark_kernels(llvm::Module& module, const Origin& origin, const InputOptions& options) {
  for (const std::string& name : options.kernels) {
    llvm::Function* function = module.getFunction(name);
    if (!function || function->isDeclaration()) {
      if (options.missing_kernels) {
        options.missing_kernels->push_back(name);
        continue;
      }
      std::string defined;
      for (const llvm::Function& candidate : module)
        if (!candidate.isDeclaration() && defined.size() < 400)
          defined += (defined.empty() ? "" : ", ") + candidate.getName().str();
      return fail(Errc::compile_failed, "there is no function '{}' to make a kernel of; defined are: {}", name,
                  defined.empty() ? "none" : defined);
    }
    function->addFnAttr(kernel_ir::kKernel);
  }
  read_nvvm_annotations(module);
  mark_only_definition(module);
  size_t kernels = 0;
  for (llvm::Function& function : module) {
    if (is_kernel_convention(function.getCallingConv())) function.addFnAttr(kernel_ir::kKernel);
    function.setCallingConv(llvm::CallingConv::C);
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block)
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) call->setCallingConv(llvm::CallingConv::C);
    if (!kernel_ir::is_kernel(function)) continue;
    if (!function.getReturnType()->isVoidTy())
      return fail(Errc::compile_failed, "{}kernel '{}' returns a value; kernels return nothing",
                  origin.line_of(function.getName().str()), function.getName().str());
    // A kernel that other code calls would be both an entry and a helper.
    if (function.hasLocalLinkage()) function.setLinkage(llvm::GlobalValue::ExternalLinkage);
    describe_kernel(function);
    ++kernels;
  }
  if (kernels > 0) return {};
  return fail(Errc::compile_failed,
              "no kernel: mark one by a kernel calling convention (spir_kernel, ptx_kernel, amdgpu_kernel), the "
              "attribute \"smelt.kernel\", !nvvm.annotations or !air.kernel, or name it");
}

Result<void> read_gpu(KernelModule& input, const Origin& origin, const InputOptions& options) {
  drop_unused_twins(*input.module);
  SMELT_TRY_VOID(mark_kernels(*input.module, origin, options));
  lower_opencl(*input.module);
  lower_nvvm(*input.module);
  return remap_address_spaces(input, spaces_of(input.module->getTargetTriple()));
}

}  // namespace smelt::aot::input
