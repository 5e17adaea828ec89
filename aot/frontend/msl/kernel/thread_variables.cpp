// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constant of AIR is bytes. One that is computed from function constants has none yet, and neither has a table of
// addresses,
//
//   threadgroup float* turn[2] = {a, b};
//
// which Clang keeps as a constant, to be copied or read. Each kernel that reads one has it as a variable of the thread;
// the optimiser folds what it can.
#include "msl/kernel/thread_variables.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"

#include <string_view>
#include <vector>

namespace smelt::aot::msl {
namespace {

/// `from`, which points into the constants' space, becomes `to`, which points to the thread's memory.
Result<void> rebase(llvm::Value* from, llvm::Value* to, std::string_view name) {
  for (llvm::Use& use : llvm::make_early_inc_range(from->uses())) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      load->setOperand(0, to);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user); store != nullptr && use.getOperandNo() == 1) {
      store->setOperand(1, to);
    } else if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
      llvm::IRBuilder<> builder(address);
      const llvm::SmallVector<llvm::Value*, 4> indices(address->indices());
      llvm::Value* moved = builder.CreateGEP(address->getSourceElementType(), to, indices);
      SMELT_TRY_VOID(rebase(address, moved, name));
      address->eraseFromParent();
    } else if (llvm::isa<llvm::AddrSpaceCastInst>(user) && user->getType() == to->getType()) {
      user->replaceAllUsesWith(to);
      user->eraseFromParent();
    } else if (const auto* marker = llvm::dyn_cast<llvm::IntrinsicInst>(user);
               marker != nullptr && marker->getIntrinsicID() == llvm::Intrinsic::invariant_start) {
      // Clang's note that the constant does not change from here on.
      user->replaceAllUsesWith(llvm::PoisonValue::get(user->getType()));
      user->eraseFromParent();
    } else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(user)) {
      llvm::IRBuilder<> builder(copy);
      const bool is_source = copy->getRawSource() == from;
      builder.CreateMemCpy(is_source ? copy->getRawDest() : to, copy->getDestAlign(),
                           is_source ? to : copy->getRawSource(), copy->getSourceAlign(), copy->getLength());
      copy->eraseFromParent();
    } else {
      return fail(Errc::compile_failed,
                  "the address of constant '{}' is taken, whose value is not known before the kernel runs", name);
    }
  }
  return {};
}

/// Element by element: addresses inside are values of their own then.
void store_parts(llvm::IRBuilder<>& builder, llvm::Constant* value, llvm::Value* to, llvm::Align align) {
  llvm::Type* const type = value->getType();
  if (!type->isStructTy() && !type->isArrayTy()) {
    if (!llvm::isa<llvm::UndefValue>(value)) builder.CreateAlignedStore(value, to, align);
    return;
  }
  const llvm::DataLayout& layout = builder.GetInsertBlock()->getModule()->getDataLayout();
  const unsigned count =
      type->isStructTy() ? type->getStructNumElements() : static_cast<unsigned>(type->getArrayNumElements());
  for (unsigned i = 0; i < count; ++i) {
    llvm::Constant* part = value->getAggregateElement(i);
    const uint64_t offset =
        type->isStructTy()
            ? layout.getStructLayout(llvm::cast<llvm::StructType>(type))->getElementOffset(i).getFixedValue()
            : i * layout.getTypeAllocSize(part->getType()).getFixedValue();
    store_parts(builder, part, builder.CreateConstInBoundsGEP2_32(type, to, 0, i),
                llvm::commonAlignment(align, offset));
  }
}

/// Of variables, not of functions: calls through tables are no matter of memory.
bool holds_addresses(const llvm::Constant& constant) {
  if (llvm::isa<llvm::GlobalVariable>(constant)) return true;
  if (llvm::isa<llvm::GlobalValue>(constant)) return false;
  for (const llvm::Use& operand : constant.operands())
    if (holds_addresses(*llvm::cast<llvm::Constant>(operand.get()))) return true;
  return false;
}

}  // namespace

Result<void> move_to_thread(llvm::GlobalVariable& constant, llvm::Function& function, const FillIn& fill_in) {
  llvm::convertUsersOfConstantsToInstructions({&constant}, &function);
  std::vector<llvm::Use*> uses;
  for (llvm::Use& use : constant.uses())
    if (auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
        user != nullptr && user->getFunction() == &function)
      uses.push_back(&use);
  if (uses.empty()) return {};
  llvm::IRBuilder<> head(&*function.getEntryBlock().getFirstInsertionPt());
  llvm::AllocaInst* own = head.CreateAlloca(constant.getValueType());
  own->setAlignment(constant.getAlign().valueOrOne());
  fill_in(head, *own);
  if (own->getType() == constant.getType()) {
    for (llvm::Use* use : uses) use->set(own);
    return {};
  }
  // rebase() follows the uses of one instruction; an alloca has another type of pointer than the global.
  auto* seen =
      llvm::cast<llvm::Instruction>(head.Insert(new llvm::FreezeInst(llvm::PoisonValue::get(constant.getType()))));
  for (llvm::Use* use : uses) use->set(seen);
  SMELT_TRY_VOID(rebase(seen, own, std::string(constant.getName())));
  seen->eraseFromParent();
  return {};
}

Result<void> move_to_thread(llvm::GlobalVariable& constant, llvm::Function& function) {
  return move_to_thread(constant, function, [&](llvm::IRBuilder<>& head, llvm::AllocaInst& own) {
    store_parts(head, constant.getInitializer(), &own, own.getAlign());
  });
}

Result<void> own_address_tables(llvm::Module& module) {
  for (llvm::GlobalVariable& global : llvm::make_early_inc_range(module.globals())) {
    if (!global.isConstant() || !global.hasInitializer() || global.isExternallyInitialized() ||
        global.getName().starts_with("llvm.") || !holds_addresses(*global.getInitializer()))
      continue;
    for (llvm::Function& function : module)
      if (!function.isDeclaration()) SMELT_TRY_VOID(move_to_thread(global, function));
    global.removeDeadConstantUsers();
    if (global.use_empty()) global.eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::msl
