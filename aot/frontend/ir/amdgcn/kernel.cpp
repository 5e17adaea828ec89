// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface of a kernel (docs/formats/triton-amdgcn.md 3): Python's run-time arguments in order, then hidden
// pointers to scratch memory that nobody would bind here. They go; that they are unused is checked, not assumed.
#include "interface/limits.hpp"
#include "ir/amdgcn/site.hpp"
#include "kernel_ir/attributes.hpp"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::input::amdgcn {
namespace {

/// Global scratch and profile scratch (Triton 3.5 on); older versions have none or the first alone.
constexpr unsigned kMostHidden = 2;

bool could_be_hidden(const llvm::Argument& argument) {
  return argument.getType()->isPointerTy() && argument.getType()->getPointerAddressSpace() == 1;
}

/// Triton marks every parameter as one of scalar registers; other compilers of AMD code do not.
bool is_triton(const llvm::Function& kernel) {
  return kernel.arg_size() > 0 && llvm::all_of(kernel.args(), [](const llvm::Argument& argument) {
           return argument.hasAttribute(llvm::Attribute::InReg);
         });
}

/// The same kernel without its last `count` parameters.
llvm::Function* without_last(llvm::Function& kernel, unsigned count) {
  const auto kept = static_cast<unsigned>(kernel.arg_size()) - count;
  std::vector<llvm::Type*> types;
  std::vector<llvm::AttributeSet> attributes;
  for (unsigned i = 0; i < kept; ++i) {
    types.push_back(kernel.getArg(i)->getType());
    attributes.push_back(kernel.getAttributes().getParamAttrs(i));
  }
  auto* made = llvm::Function::Create(llvm::FunctionType::get(kernel.getReturnType(), types, false),
                                      kernel.getLinkage(), kernel.getAddressSpace(), "", kernel.getParent());
  made->copyAttributesFrom(&kernel);
  made->setAttributes(llvm::AttributeList::get(kernel.getContext(), kernel.getAttributes().getFnAttrs(),
                                               kernel.getAttributes().getRetAttrs(), attributes));
  made->takeName(&kernel);
  made->splice(made->end(), &kernel);
  for (unsigned i = 0; i < kept; ++i) {
    made->getArg(i)->takeName(kernel.getArg(i));
    kernel.getArg(i)->replaceAllUsesWith(made->getArg(i));
  }
  for (llvm::Argument& hidden : llvm::drop_begin(kernel.args(), kept))
    hidden.replaceAllUsesWith(llvm::PoisonValue::get(hidden.getType()));  // debug records at most
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>> metadata;
  kernel.getAllMetadata(metadata);
  for (const auto& [kind, node] : metadata) made->addMetadata(kind, *node);
  kernel.clearMetadata();
  kernel.replaceAllUsesWith(made);
  kernel.eraseFromParent();
  return made;
}

/// "1,128": the least and the most threads of a group.
uint64_t most_threads(const llvm::Function& kernel) {
  const llvm::StringRef text = kernel.getFnAttribute("amdgpu-flat-work-group-size").getValueAsString();
  uint64_t most = 0;
  if (text.empty() || text.split(',').second.trim().getAsInteger(10, most) || most > air::kMostThreads) return 0;
  return most;
}

}  // namespace

Result<unsigned> count_hidden(const llvm::Function& kernel, const Origin& origin, const InputOptions& options) {
  if (options.hidden_pointers) {
    const unsigned count = *options.hidden_pointers;
    const auto complain = [&](std::string_view what) {
      return fail(Errc::unsupported, "{}kernel '{}': the metadata promises {} hidden pointers behind the arguments, {}",
                  origin.line_of(kernel.getName().str()), kernel.getName().str(), count, what);
    };
    if (count > kernel.arg_size()) return complain(fmt::format("but there are {} parameters", kernel.arg_size()));
    for (unsigned i = 0; i < count; ++i) {
      const llvm::Argument& argument = *kernel.getArg(static_cast<unsigned>(kernel.arg_size()) - 1 - i);
      if (!could_be_hidden(argument)) return complain("but one of them is not a pointer to device memory");
      if (!argument.use_empty()) return complain("and the kernel uses one, for which no launch provides memory");
    }
    return count;
  }
  if (!is_triton(kernel)) return 0;
  unsigned count = 0;
  while (count < kMostHidden && count < kernel.arg_size()) {
    const llvm::Argument& argument = *kernel.getArg(static_cast<unsigned>(kernel.arg_size()) - 1 - count);
    if (!could_be_hidden(argument) || !argument.use_empty()) break;
    ++count;
  }
  return count;
}

Result<void> finish_kernel(llvm::Function& old, const Origin& origin, const InputOptions& options) {
  if (old.getFnAttribute("target-features").getValueAsString().contains("+wavefrontsize64"))
    return fail(Errc::unsupported, "{}kernel '{}' was compiled for waves of 64 lanes; Apple GPUs have 32",
                origin.line_of(old.getName().str()), old.getName().str());
  unsigned hidden = 0;
  unsigned reports = 0;
  if (!old.getFnAttribute(kReports).getValueAsString().getAsInteger(10, reports)) {
    hidden = static_cast<unsigned>(old.arg_size()) - 1 - reports;
    old.removeFnAttr(kReports);
  } else {
    SMELT_TRY(hidden, count_hidden(old, origin, options));
  }
  llvm::Function& kernel = hidden > 0 ? *without_last(old, hidden) : old;
  for (unsigned i = 0; i < kernel.arg_size(); ++i) kernel.removeParamAttr(i, llvm::Attribute::InReg);
  const uint64_t threads =
      options.threads_per_threadgroup != 0 ? options.threads_per_threadgroup : most_threads(kernel);
  if (threads != 0) kernel_ir::set_max_threads(kernel, threads);
  return {};
}

}  // namespace smelt::aot::input::amdgcn
