// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM 19 counts addresses in bytes; the pointers of AIR have pointees, and each byte address costs a bitcast there and
// one back. Where the pointee is known, an address is a walk through it again, as Apple's compiler writes it:
//
//   %a = gep i8, p, 24        p points to %struct.args        %a = gep %struct.args, p, 0, 3
//   %a = gep i8, p, 24        loaded as i32                   %a = gep i32, p, 6
//   %a = gep %vec, p, %i      loaded as <4 x float>           %a = gep <4 x float>, p, %i
//   %a = gep [4 x %vec], p, 0, %i   the same                  %a = gep [4 x %vec], p, 0, %i, 0, 0
//
// No address changes, and an address that fits no type stays in bytes.
#include "interface/limits.hpp"
#include "legalise/support.hpp"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

/// A vector class of the Metal library is the vector in it.
llvm::Type* without_class(llvm::Type* type, const llvm::DataLayout& layout) {
  llvm::Type* inner = type;
  while (auto* record = llvm::dyn_cast<llvm::StructType>(inner)) {
    if (record->getNumElements() != 1) return type;
    inner = record->getElementType(0);
  }
  const bool same = layout.getTypeAllocSize(inner) == layout.getTypeAllocSize(type) &&
                    layout.getABITypeAlign(inner) == layout.getABITypeAlign(type);
  return inner->isVectorTy() && same ? inner : type;
}

class Addresses {
 public:
  Addresses(PassContext& context, const llvm::Function& function)
      : layout_(context.module.getDataLayout()), pointees_(function.getMetadata(kernel_ir::kPointees)) {}

  void rewrite(llvm::GetElementPtrInst& gep) {
    if (gep.getType()->isVectorTy()) return;
    llvm::Type* const wanted = accessed_type(gep);
    llvm::Type* const source = gep.getSourceElementType();
    if (source->isIntegerTy(8) && gep.getNumIndices() == 1) {
      if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(gep.getOperand(1)))
        rewrite_bytes(gep, constant->getSExtValue(), wanted);
      return;
    }
    if (wanted == nullptr || wanted == gep.getResultElementType()) return;
    if (gep.getNumIndices() == 1 && pointee_of(*gep.getPointerOperand()) != source && source->isAggregateType() &&
        layout_.getTypeAllocSize(source) == layout_.getTypeAllocSize(wanted)) {
      gep.setSourceElementType(wanted);
      gep.setResultElementType(wanted);
      return;
    }
    llvm::SmallVector<llvm::Value*, 8> indices(gep.indices());
    if (step_inside(gep.getResultElementType(), wanted, indices)) replace(gep, source, indices);
  }

 private:
  /// What the typed pointer of `value` will point to; null: bytes.
  llvm::Type* pointee_of(const llvm::Value& value) const {
    if (const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&value)) return gep->getResultElementType();
    if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(&value)) return local->getAllocatedType();
    if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(&value)) return global->getValueType();
    const auto* argument = llvm::dyn_cast<llvm::Argument>(&value);
    if (argument == nullptr || pointees_ == nullptr || argument->getArgNo() >= pointees_->getNumOperands())
      return nullptr;
    const auto* constant =
        llvm::dyn_cast_or_null<llvm::ConstantAsMetadata>(pointees_->getOperand(argument->getArgNo()).get());
    return constant == nullptr ? nullptr : constant->getType();
  }

  /// The type that most loads, stores and GEPs use the address with; the first of equals. Null when there is none.
  static llvm::Type* accessed_type(const llvm::Value& address) {
    llvm::SmallMapVector<llvm::Type*, unsigned, 4> counts;
    for (const llvm::Use& use : address.uses()) {
      const llvm::User* user = use.getUser();
      if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user))
        ++counts[load->getType()];
      else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user); store && use.getOperandNo() == 1)
        ++counts[store->getValueOperand()->getType()];
      else if (const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
               gep && use.getOperandNo() == 0 && !gep->getSourceElementType()->isIntegerTy(8))
        ++counts[gep->getSourceElementType()];
    }
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts.end() || most->first->isPointerTy() ? nullptr : most->first;
  }

  llvm::Value* number(const llvm::Type* inside, uint64_t index, llvm::LLVMContext& context) const {
    return llvm::ConstantInt::get(
        inside->isStructTy() ? llvm::Type::getInt32Ty(context) : llvm::Type::getInt64Ty(context), index);
  }

  /// Adds the zeros that lead from the beginning of `type` to a `wanted`.
  bool step_inside(llvm::Type* type, const llvm::Type* wanted, llvm::SmallVectorImpl<llvm::Value*>& indices) const {
    while (type != wanted) {
      if (!type->isStructTy() && !type->isArrayTy()) return false;
      if (type->isStructTy() && type->getStructNumElements() == 0) return false;
      if (type->isArrayTy() && type->getArrayNumElements() == 0) return false;
      indices.push_back(number(type, 0, type->getContext()));
      type = llvm::GetElementPtrInst::getTypeAtIndex(type, uint64_t{0});
    }
    return true;
  }

  /// Adds the indices that lead `offset` bytes into `type`, and sets `type` to what is there.
  bool walk(llvm::Type*& type, uint64_t offset, llvm::SmallVectorImpl<llvm::Value*>& indices) const {
    while (offset != 0) {
      llvm::LLVMContext& context = type->getContext();
      if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) {
        const llvm::StructLayout* fields = layout_.getStructLayout(record);
        if (offset >= fields->getSizeInBytes()) return false;
        const unsigned field = fields->getElementContainingOffset(offset);
        offset -= fields->getElementOffset(field);
        indices.push_back(number(type, field, context));
        type = record->getElementType(field);
      } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
        const uint64_t size = layout_.getTypeAllocSize(array->getElementType());
        if (size == 0 || offset / size >= array->getNumElements()) return false;
        indices.push_back(number(type, offset / size, context));
        type = array->getElementType();
        offset %= size;
      } else {
        return false;
      }
    }
    return true;
  }

  void rewrite_bytes(llvm::GetElementPtrInst& gep, int64_t offset, llvm::Type* wanted) const {
    llvm::Type* const known = pointee_of(*gep.getPointerOperand());
    llvm::Type* const i64 = llvm::Type::getInt64Ty(gep.getContext());
    if (known != nullptr && known->isSized() && !known->isIntegerTy(8)) {
      const auto size = static_cast<int64_t>(layout_.getTypeAllocSize(known).getFixedValue());
      if (size == 0) return;
      const int64_t whole = offset >= 0 ? offset / size : -((-offset + size - 1) / size);
      llvm::SmallVector<llvm::Value*, 8> indices{llvm::ConstantInt::getSigned(i64, whole)};
      llvm::Type* at = known;
      if (walk(at, static_cast<uint64_t>(offset - whole * size), indices) &&
          (wanted == nullptr || step_inside(at, wanted, indices)))
        return replace(gep, known, indices);
    }
    if (wanted == nullptr || !wanted->isSized() || wanted->isIntegerTy(8)) return;
    const auto size = static_cast<int64_t>(layout_.getTypeAllocSize(wanted).getFixedValue());
    if (size == 0 || offset % size != 0) return;
    replace(gep, wanted, {llvm::ConstantInt::getSigned(i64, offset / size)});
  }

  static void replace(llvm::GetElementPtrInst& gep, llvm::Type* source, llvm::ArrayRef<llvm::Value*> indices) {
    auto* made = llvm::GetElementPtrInst::Create(source, gep.getPointerOperand(), indices, "", gep.getIterator());
    made->setIsInBounds(gep.isInBounds());
    made->setDebugLoc(gep.getDebugLoc());
    made->takeName(&gep);
    gep.replaceAllUsesWith(made);
    gep.eraseFromParent();
  }

  const llvm::DataLayout& layout_;
  const llvm::MDNode* pointees_;
};

/// Only what this AIR's memory can hold; the rest are bytes.
void clean_pointees(PassContext& context) {
  const llvm::MDNode* before = context.entry->getMetadata(kernel_ir::kPointees);
  if (before == nullptr) return;
  const llvm::DataLayout& layout = context.module.getDataLayout();
  const bool has_bfloat = context.target.air >= kFirstBfloat;
  llvm::SmallVector<llvm::Metadata*, 8> pointees;
  for (const llvm::MDOperand& operand : before->operands()) {
    const auto* value = llvm::dyn_cast_or_null<llvm::ConstantAsMetadata>(operand.get());
    llvm::Type* type = value == nullptr ? nullptr : without_class(value->getType(), layout);
    const bool fits =
        type != nullptr && type->isSized() && is_plain_memory(type) && (has_bfloat || !mentions_bfloat(type));
    pointees.push_back(fits ? llvm::ConstantAsMetadata::get(llvm::PoisonValue::get(type)) : nullptr);
  }
  context.entry->setMetadata(kernel_ir::kPointees, llvm::MDNode::get(context.module.getContext(), pointees));
}

}  // namespace

Result<void> typed_addresses(PassContext& context) {
  clean_pointees(context);
  for (llvm::Function& function : context.module) {
    if (function.isDeclaration()) continue;
    Addresses addresses(context, function);
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function))
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block))
        if (auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) addresses.rewrite(*gep);
  }
  return {};
}

}  // namespace smelt::aot::air
