// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/bfloat_calls.hpp"

#include "lower/operation.hpp"
#include "work_item/long_functions.hpp"
#include "work_item/recursion.hpp"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::cpu {
namespace {

llvm::Type* passed_as(llvm::Type* type) {
  return type->getScalarType()->isBFloatTy() ? with_element(type, llvm::Type::getInt16Ty(type->getContext())) : type;
}

bool only_called(const llvm::Function& function) {
  return llvm::all_of(function.uses(), [](const llvm::Use& use) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(use.getUser());
    return call != nullptr && call->isCallee(&use);
  });
}

void drop_float_attributes(llvm::Function& function) {
  function.removeRetAttrs(llvm::AttributeFuncs::typeIncompatible(function.getReturnType()));
  for (const llvm::Argument& argument : function.args())
    function.removeParamAttrs(argument.getArgNo(), llvm::AttributeFuncs::typeIncompatible(argument.getType()));
}

void move_body(llvm::Function& to, llvm::Function& from) {
  to.splice(to.begin(), &from);
  llvm::IRBuilder<> builder(&to.getEntryBlock(), to.getEntryBlock().begin());
  for (llvm::Argument& old : from.args()) {
    llvm::Argument* made = to.getArg(old.getArgNo());
    made->takeName(&old);
    old.replaceAllUsesWith(builder.CreateBitCast(made, old.getType()));
  }
  for (llvm::BasicBlock& block : to) {
    auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
    if (end == nullptr || end->getReturnValue() == nullptr) continue;
    builder.SetInsertPoint(end);
    end->setOperand(0, builder.CreateBitCast(end->getReturnValue(), to.getReturnType()));
  }
}

void call_instead_of(llvm::CallInst& call, llvm::Function& to) {
  llvm::IRBuilder<> builder(&call);
  llvm::SmallVector<llvm::Value*> arguments;
  for (unsigned i = 0; i < call.arg_size(); ++i)
    arguments.push_back(builder.CreateBitCast(call.getArgOperand(i), to.getArg(i)->getType()));
  llvm::CallInst* made = builder.CreateCall(&to, arguments);
  made->setAttributes(to.getAttributes());
  made->setCallingConv(to.getCallingConv());
  if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(builder.CreateBitCast(made, call.getType()));
  call.eraseFromParent();
}

}  // namespace

void pass_bfloats_as_integers(llvm::Module& module) {
  for (llvm::Function& old : llvm::make_early_inc_range(module)) {
    if (old.isDeclaration() || !(is_recursive(old) || is_long_function(old)) || !only_called(old)) continue;
    llvm::SmallVector<llvm::Type*> types;
    for (llvm::Type* type : old.getFunctionType()->params()) types.push_back(passed_as(type));
    auto* type = llvm::FunctionType::get(passed_as(old.getReturnType()), types, false);
    if (type == old.getFunctionType()) continue;
    auto* made = llvm::Function::Create(type, old.getLinkage(), "", &module);
    made->copyAttributesFrom(&old);
    made->copyMetadata(&old, 0);
    made->takeName(&old);
    drop_float_attributes(*made);
    move_body(*made, old);
    for (llvm::User* user : llvm::make_early_inc_range(old.users()))
      call_instead_of(*llvm::cast<llvm::CallInst>(user), *made);
    old.eraseFromParent();
  }
}

}  // namespace smelt::aot::cpu
