// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/defined.hpp"

#include "llvm_support/returns.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace smelt::aot::cpu {
namespace {

void freeze_operand(llvm::Instruction& user, unsigned operand) {
  llvm::Value* value = user.getOperand(operand);
  if (llvm::isa<llvm::ConstantInt, llvm::ConstantPointerNull>(value) || llvm::isGuaranteedNotToBeUndefOrPoison(value))
    return;
  llvm::IRBuilder<> builder(&user);
  user.setOperand(operand, builder.CreateFreeze(value));
}

/// The operands on which the way and the addresses depend.
void freeze_decisions(llvm::Instruction& instruction) {
  if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction)) {
    if (branch->isConditional()) freeze_operand(instruction, 0);
  } else if (llvm::isa<llvm::SwitchInst, llvm::IntToPtrInst>(instruction)) {
    freeze_operand(instruction, 0);
  } else if (llvm::isa<llvm::SelectInst>(instruction)) {
    if (instruction.getType()->isPtrOrPtrVectorTy()) freeze_operand(instruction, 0);
  } else if (llvm::isa<llvm::GetElementPtrInst>(instruction)) {
    for (unsigned i = 1; i < instruction.getNumOperands(); ++i) freeze_operand(instruction, i);
  } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    const llvm::Function* callee = call->getCalledFunction();
    if (llvm::isa<llvm::AnyMemIntrinsic>(call)) {
      freeze_operand(instruction, 2);
    } else if (callee != nullptr && callee->getName().starts_with("air.")) {
      for (unsigned i = 0; i < call->arg_size(); ++i)
        if (call->getArgOperand(i)->getType()->isIntOrIntVectorTy()) freeze_operand(instruction, i);
    }
  }
}

/// An address is no more aligned than its elements ask; kernels may say anything.
void forget_alignment(llvm::Instruction& instruction, const llvm::DataLayout& layout) {
  const auto cap = [&](auto& access, llvm::Type* type) {
    access.setAlignment(std::min(access.getAlign(), layout.getABITypeAlign(type->getScalarType())));
  };
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (!load->isAtomic()) cap(*load, load->getType());
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    if (!store->isAtomic()) cap(*store, store->getValueOperand()->getType());
  } else if (auto* memory = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&instruction)) {
    memory->setDestAlignment(llvm::Align(1));
    if (auto* transfer = llvm::dyn_cast<llvm::AnyMemTransferInst>(memory)) transfer->setSourceAlignment(llvm::Align(1));
  }
}

bool has_single_bits(llvm::Type* type) {
  if (type->isIntegerTy(1)) return true;
  return llvm::any_of(type->subtypes(), has_single_bits);
}

/// LLVM takes for granted that the byte of a bit is 0 or 1, and would use one that is 255 as it is.
Result<void> define_bit(llvm::LoadInst& load) {
  if (!has_single_bits(load.getType())) return {};
  if (!load.getType()->isIntegerTy(1) || load.isAtomic())
    return fail(Errc::unsupported, "checked code does not support memory of single bits in vectors or structures");
  llvm::IRBuilder<> builder(&load);
  llvm::LoadInst* byte = builder.CreateAlignedLoad(builder.getInt8Ty(), load.getPointerOperand(), load.getAlign());
  byte->setVolatile(load.isVolatile());
  load.replaceAllUsesWith(builder.CreateTrunc(byte, builder.getInt1Ty()));
  load.eraseFromParent();
  return {};
}

/// Private memory that nobody has written holds what LLVM likes, another value at each look.
void freeze_private(llvm::LoadInst& load) {
  if (load.getPointerAddressSpace() != 0 || load.use_empty()) return;
  llvm::IRBuilder<> builder(load.getNextNode());
  auto* frozen = llvm::cast<llvm::Instruction>(builder.CreateFreeze(&load));
  frozen->setMetadata(kPrivateLoadMetadata, llvm::MDNode::get(load.getContext(), {}));
  load.replaceUsesWithIf(frozen, [&](const llvm::Use& use) { return use.getUser() != frozen; });
}

}  // namespace

bool reads_dispatch(const llvm::Value* value, const llvm::Value* dispatch) {
  while (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) {
    value = load->getPointerOperand();
    while (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(value)) value = gep->getPointerOperand();
    if (value == dispatch) return true;
  }
  return false;
}

Result<void> define_behaviour(llvm::Function& function, const llvm::Value* dispatch) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (reads_dispatch(&instruction, dispatch)) continue;
    if (auto* assumption = llvm::dyn_cast<llvm::AssumeInst>(&instruction)) {
      assumption->eraseFromParent();
      continue;
    }
    if (auto* unreachable = llvm::dyn_cast<llvm::UnreachableInst>(&instruction)) {
      return_instead(*unreachable);
      continue;
    }
    instruction.dropPoisonGeneratingAnnotations();
    instruction.dropUBImplyingAttrsAndMetadata();
    for (const unsigned kind : {llvm::LLVMContext::MD_invariant_load, llvm::LLVMContext::MD_invariant_group,
                                llvm::LLVMContext::MD_loop, llvm::LLVMContext::MD_prof})
      instruction.setMetadata(kind, nullptr);
    forget_alignment(instruction, layout);
    freeze_decisions(instruction);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      freeze_private(*load);
      SMELT_TRY_VOID(define_bit(*load));
    }
  }
  return {};
}

}  // namespace smelt::aot::cpu
