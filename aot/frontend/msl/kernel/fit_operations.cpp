// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/fit_operations.hpp"

#include "ops/intrinsics.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace smelt::aot::msl {
namespace {

using llvm::CallInst;

/// The pointer through which Clang passes an argument by value; null for other arguments.
bool is_by_pointer(const CallInst& call, unsigned argument) {
  return call.getParamByValType(argument) != nullptr;
}

/// Whether a call that Clang made can be one of this type.
bool fits(const CallInst& call, const llvm::FunctionType& wanted) {
  const bool returns_by_pointer = call.arg_size() != 0 && call.hasStructRetAttr();
  const unsigned first = returns_by_pointer ? 1 : 0;
  if (call.arg_size() - first != wanted.getNumParams()) return false;
  const llvm::DataLayout& layout = call.getDataLayout();
  const auto same_size = [&](llvm::Type* memory, llvm::Type* value) {
    return value->isVectorTy() && layout.getTypeAllocSize(memory) == layout.getTypeAllocSize(value);
  };
  if (returns_by_pointer ? !same_size(call.getParamStructRetType(0), wanted.getReturnType())
                         : call.getType() != wanted.getReturnType())
    return false;
  for (unsigned i = 0; i < wanted.getNumParams(); ++i) {
    llvm::Type* type = wanted.getParamType(i);
    if (is_by_pointer(call, first + i) ? !same_size(call.getParamByValType(first + i), type)
                                       : call.getArgOperand(first + i)->getType() != type)
      return false;
  }
  return true;
}

void fit(CallInst& call, llvm::FunctionType* type, llvm::Function* operation) {
  llvm::IRBuilder<> builder(&call);
  const bool returns_by_pointer = call.hasStructRetAttr();
  const unsigned first = returns_by_pointer ? 1 : 0;
  std::vector<llvm::Value*> arguments;
  for (unsigned i = 0; i < type->getNumParams(); ++i) {
    llvm::Value* argument = call.getArgOperand(first + i);
    if (is_by_pointer(call, first + i))
      argument = builder.CreateAlignedLoad(type->getParamType(i), argument, call.getParamAlign(first + i).valueOrOne());
    arguments.push_back(argument);
  }
  CallInst* fitted = builder.CreateCall(type, operation, arguments);
  fitted->setDebugLoc(call.getDebugLoc());
  for (const llvm::Attribute attribute : call.getAttributes().getFnAttrs()) fitted->addFnAttr(attribute);
  if (returns_by_pointer)
    builder.CreateAlignedStore(fitted, call.getArgOperand(0), call.getParamAlign(0).valueOrOne());
  else
    call.replaceAllUsesWith(fitted);
  call.eraseFromParent();
}

Result<void> fit_calls(llvm::Function& function) {
  std::vector<CallInst*> calls;
  for (llvm::User* user : function.users())
    if (auto* call = llvm::dyn_cast<CallInst>(user); call != nullptr && call->getCalledOperand() == &function)
      calls.push_back(call);
  const std::string name = function.getName().str();
  std::vector<air::Signature> forms = air::forms(name);
  std::erase_if(forms, [](const air::Signature& form) { return form.family_only; });
  const auto agrees = [&](const llvm::FunctionType* type) {
    return llvm::any_of(forms, [&](const air::Signature& form) { return air::agrees(form, type); });
  };
  if (forms.empty() || (agrees(function.getFunctionType()) &&
                        llvm::all_of(calls, [&](CallInst* call) { return agrees(call->getFunctionType()); })))
    return {};
  llvm::Function* operation = nullptr;
  for (CallInst* call : calls) {
    llvm::FunctionType* type = nullptr;
    for (const air::Signature& form : forms)
      if (llvm::FunctionType* one = air::function_type(form, function.getContext()); fits(*call, *one)) type = one;
    if (type == nullptr)
      return fail(Errc::compile_failed, "the operation '{}' is declared with other types than it has: {}", name,
                  air::typed_text(forms.back()));
    if (operation == nullptr) {
      function.setName("");
      operation = llvm::Function::Create(type, function.getLinkage(), name, function.getParent());
      operation->setCallingConv(function.getCallingConv());
      for (const llvm::Attribute attribute : function.getAttributes().getFnAttrs()) operation->addFnAttr(attribute);
    }
    fit(*call, type, operation);
  }
  if (operation != nullptr) function.replaceAllUsesWith(operation);
  function.eraseFromParent();
  return {};
}

/// A program-scope constant that a function fills in: Clang 19 hands over its place without the cast that the type of
/// the function wants.
void cast_results(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* const call = llvm::dyn_cast<CallInst>(&instruction);
    if (call == nullptr || call->arg_size() == 0 || !call->hasStructRetAttr()) continue;
    llvm::Type* const wanted = call->getFunctionType()->getParamType(0);
    llvm::Value* const place = call->getArgOperand(0);
    if (place->getType() != wanted) call->setArgOperand(0, llvm::IRBuilder<>(call).CreateAddrSpaceCast(place, wanted));
  }
}

}  // namespace

Result<void> fit_operations(llvm::Module& module) {
  for (llvm::Function& function : module) cast_results(function);
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.getName().starts_with("air.")) {
      SMELT_TRY_VOID(fit_calls(function));
    }
  return {};
}

}  // namespace smelt::aot::msl
