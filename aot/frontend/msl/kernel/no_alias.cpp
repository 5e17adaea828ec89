// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/no_alias.hpp"

#include "kernel_ir/attributes.hpp"
#include "msl/kernel/spaces.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace smelt::aot::msl {
namespace {

using Parameters = std::set<unsigned>;

bool is_buffer(const llvm::Argument& argument) {
  return argument.getType()->isPointerTy() && argument.getType()->getPointerAddressSpace() != kThread &&
         !argument.getParent()->getAttributes().hasParamAttr(argument.getArgNo(), kernel_ir::kStageInput);
}

/// The parameters that an access may touch; none when it may touch anything else.
Parameters parameters_behind(const llvm::Value* pointer) {
  llvm::SmallVector<const llvm::Value*, 4> objects;
  // Apple's compiler looks 6 steps back; what is promised holds however far away the parameter is.
  llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
  Parameters parameters;
  for (const llvm::Value* object : objects) {
    const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
    if (argument == nullptr || !is_buffer(*argument)) return {};
    parameters.insert(argument->getArgNo());
  }
  return parameters;
}

void add_scopes(llvm::Function& entry) {
  std::vector<std::pair<llvm::Instruction*, Parameters>> accesses;
  std::map<unsigned, llvm::Metadata*> scopes;
  for (const llvm::Argument& argument : entry.args())
    if (is_buffer(argument) && !argument.use_empty()) scopes.emplace(argument.getArgNo(), nullptr);
  for (llvm::Instruction& instruction : llvm::instructions(entry)) {
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (pointer == nullptr) continue;
    Parameters parameters = parameters_behind(pointer);
    if (parameters.empty()) continue;
    accesses.emplace_back(&instruction, std::move(parameters));
  }
  llvm::MDBuilder builder(entry.getContext());
  llvm::MDNode* domain =
      builder.createAnonymousAliasScopeDomain(fmt::format("air-alias-scopes({})", entry.getName().str()));
  for (auto& [index, scope] : scopes)
    scope = builder.createAnonymousAliasScope(domain, fmt::format("air-alias-scope-arg({})", index));
  for (const auto& [instruction, parameters] : accesses) {
    std::vector<llvm::Metadata*> touched, others;
    for (const auto& [index, scope] : scopes) (parameters.count(index) != 0 ? touched : others).push_back(scope);
    instruction->setMetadata(llvm::LLVMContext::MD_alias_scope, llvm::MDNode::get(entry.getContext(), touched));
    if (!others.empty())
      instruction->setMetadata(llvm::LLVMContext::MD_noalias, llvm::MDNode::get(entry.getContext(), others));
  }
}

}  // namespace

llvm::PreservedAnalyses NoAliasPass::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  for (llvm::Function& function : module) {
    if (!kernel_ir::is_kernel(function) || kernel_ir::stage_of(function) == "visible") continue;
    for (llvm::Argument& argument : function.args())
      if (is_buffer(argument))
        function.addParamAttr(argument.getArgNo(),
                              llvm::Attribute::get(module.getContext(), kernel_ir::kBufferNoAlias));
    add_scopes(function);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
          load != nullptr && load->getPointerAddressSpace() == kConstant)
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module.getContext(), {}));
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace smelt::aot::msl
