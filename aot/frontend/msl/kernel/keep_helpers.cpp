// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apple's compiler keeps helpers too, with LLVM's own rule of cost: in its libraries they have up to 7,500
// instructions, and take pointers to every memory, the thread's as well.
#include "msl/kernel/keep_helpers.hpp"

#include "kernel_ir/attributes.hpp"
#include "msl/kernel/spaces.hpp"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::msl {
namespace {

/// Not yet optimised: a third of it is left at the end.
constexpr unsigned kLarge = 400;
constexpr unsigned kLeastCalls = 2;

bool is_number(const llvm::Type* type) {
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type); vector != nullptr)
    return vector->getNumElements() <= 4 && is_number(vector->getElementType());
  return type->isFloatTy() || type->isHalfTy() || type->isBFloatTy() || type->isIntegerTy(8) || type->isIntegerTy(16) ||
         type->isIntegerTy(32) || type->isIntegerTy(64);
}

/// A plain pointer, to what AIR has as bytes.
bool is_value(const llvm::Type* type) {
  return is_number(type) || type->isPointerTy();
}

/// Constants of the program alone: variables of the kernel and function constants become what its entry computes.
bool reads_only_constants(const llvm::Instruction& instruction) {
  llvm::SmallVector<const llvm::Constant*, 8> work;
  llvm::SmallPtrSet<const llvm::Constant*, 8> seen;
  const auto add = [&](const llvm::Value* value) {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
    if (constant != nullptr && !llvm::isa<llvm::ConstantData>(constant) && seen.insert(constant).second)
      work.push_back(constant);
  };
  for (const llvm::Use& operand : instruction.operands()) add(operand.get());
  while (!work.empty()) {
    const llvm::Constant* constant = work.pop_back_val();
    if (llvm::isa<llvm::Function>(constant)) continue;
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant)) {
      if (!variable->isConstant() || !variable->hasInitializer()) return false;
      continue;
    }
    for (const llvm::Use& operand : constant->operands()) add(operand.get());
  }
  return true;
}

bool may_be_called(const llvm::Function& callee) {
  if (callee.isIntrinsic() || is_kept(callee)) return true;
  if (!callee.isDeclaration() || !callee.getName().starts_with("air.")) return false;
  return (callee.getReturnType()->isVoidTy() || is_number(callee.getReturnType())) &&
         llvm::all_of(callee.args(), [](const llvm::Argument& one) { return is_number(one.getType()); });
}

bool is_plain(const llvm::Instruction& instruction) {
  if (!reads_only_constants(instruction)) return false;
  if (const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) return alloca->isStaticAlloca();
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call == nullptr) return true;
  return call->getCalledFunction() != nullptr && may_be_called(*call->getCalledFunction());
}

unsigned calls_elsewhere(const llvm::Function& function) {
  unsigned calls = 0;
  for (const llvm::Use& use : function.uses()) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(use.getUser());
    if (call == nullptr || !call->isCallee(&use) || call->getFunction() == &function ||
        call->getFunctionType() != function.getFunctionType())
      return 0;
    ++calls;
  }
  return calls;
}

/// To the thread's memory: its own variable, or what a function that stays was given.
bool is_to_thread_memory(const llvm::Value* pointer) {
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
  return llvm::all_of(objects, [](const llvm::Value* object) {
    if (object->getType()->getPointerAddressSpace() != kThread) return false;
    if (llvm::isa<llvm::AllocaInst>(object) || llvm::isa<llvm::ConstantData>(object)) return true;
    const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
    return argument != nullptr && is_kept(*argument->getParent());
  });
}

bool has_open_pointer(const llvm::Function& function) {
  for (const llvm::Argument& argument : function.args()) {
    if (!argument.getType()->isPointerTy() || argument.getType()->getPointerAddressSpace() != kThread) continue;
    for (const llvm::User* user : function.users())
      if (!is_to_thread_memory(llvm::cast<llvm::CallInst>(user)->getArgOperand(argument.getArgNo()))) return true;
  }
  return false;
}

}  // namespace

bool is_large(const llvm::Function& function) {
  unsigned count = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (!instruction.isDebugOrPseudoInst() && ++count == kLarge) return true;
  return false;
}

bool may_stay(const llvm::Function& function) {
  const llvm::Type* result = function.getReturnType();
  return function.hasLocalLinkage() && !function.isVarArg() && (result->isVoidTy() || is_number(result)) &&
         llvm::all_of(function.args(), [](const llvm::Argument& one) { return is_value(one.getType()); }) &&
         calls_elsewhere(function) >= kLeastCalls && is_large(function) &&
         llvm::all_of(llvm::instructions(function), is_plain);
}

void mark_kept(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::AlwaysInline);
  function.addFnAttr(llvm::Attribute::NoInline);
  function.addFnAttr(kernel_ir::kKept);
}

bool is_kept(const llvm::Function& function) {
  return function.hasFnAttribute(kernel_ir::kKept);
}

bool drop_open_pointers(llvm::Module& module) {
  llvm::SmallVector<llvm::Function*> open;
  for (llvm::Function& function : module)
    if (is_kept(function) && has_open_pointer(function)) open.push_back(&function);
  for (llvm::Function* function : open) {
    function->removeFnAttr(kernel_ir::kKept);
    function->removeFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::AlwaysInline);
  }
  return !open.empty();
}

}  // namespace smelt::aot::msl
