// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/prepare.hpp"

#include "lanes/layout.hpp"
#include "llvm_support/mem_intrinsics.hpp"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

#include <bit>

namespace smelt::aot::cpu::lanes {
namespace {

constexpr uint64_t kUnrolledBytes = 128;

// A short copy or fill of known length, in words if the length is a multiple of theirs.
void unroll(llvm::MemIntrinsic& intrinsic, uint64_t bytes) {
  llvm::IRBuilder<> builder(&intrinsic);
  const uint64_t width = bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
  llvm::Type* type = builder.getIntNTy(static_cast<unsigned>(width * 8));
  const auto at = [&](llvm::Value* pointer, uint64_t offset) {
    return builder.CreateConstGEP1_64(builder.getInt8Ty(), pointer, offset);
  };
  llvm::SmallVector<llvm::Value*, 32> values;
  for (uint64_t offset = 0; offset < bytes; offset += width) {
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&intrinsic)) {
      const llvm::Align align = llvm::commonAlignment(copy->getSourceAlign().valueOrOne(), offset);
      values.push_back(builder.CreateAlignedLoad(type, at(copy->getSource(), offset), align));
      continue;
    }
    llvm::Value* byte = llvm::cast<llvm::MemSetInst>(intrinsic).getValue();
    llvm::Value* word = builder.CreateZExt(byte, type);
    if (width > 1) word = builder.CreateMul(word, llvm::ConstantInt::get(type, width == 4 ? 0x01010101 : 0x0101));
    values.push_back(word);
  }
  for (uint64_t offset = 0; offset < bytes; offset += width) {
    const llvm::Align align = llvm::commonAlignment(intrinsic.getDestAlign().valueOrOne(), offset);
    builder.CreateAlignedStore(values[offset / width], at(intrinsic.getDest(), offset), align);
  }
}

// One alloca and everything that reaches into it.
class PrivateArray {
 public:
  PrivateArray(llvm::AllocaInst& alloca, unsigned lanes)
      : alloca_(alloca), layout_(alloca.getModule()->getDataLayout()), lanes_(lanes) {}

  bool has_one_element_size();
  void interleave();

 private:
  bool add_address(llvm::GetElementPtrInst& address);
  bool add_access(llvm::Instruction& access, llvm::Value* pointer, llvm::Type* type);
  llvm::Value* scaled(llvm::GetElementPtrInst& address, llvm::Value* base);

  llvm::AllocaInst& alloca_;
  const llvm::DataLayout& layout_;
  unsigned lanes_;
  uint64_t width_ = 0;                                   // of an element, in bytes
  uint64_t unit_ = 0;                                    // greatest power of two that divides all offsets
  llvm::SmallVector<llvm::Instruction*, 16> addresses_;  // in an order in which bases come first
  llvm::SmallVector<llvm::Instruction*, 16> accesses_;
  llvm::SmallVector<llvm::Instruction*, 4> markers_;
};

bool PrivateArray::add_address(llvm::GetElementPtrInst& address) {
  if (address.getType()->isVectorTy()) return false;
  llvm::MapVector<llvm::Value*, llvm::APInt> scales;
  llvm::APInt constant(64, 0);
  if (!llvm::cast<llvm::GEPOperator>(address).collectOffset(layout_, 64, scales, constant)) return false;
  unit_ |= constant.getZExtValue();
  for (const auto& [index, scale] : scales) unit_ |= scale.getZExtValue();
  addresses_.push_back(&address);
  return true;
}

bool PrivateArray::add_access(llvm::Instruction& access, llvm::Value* pointer, llvm::Type* type) {
  const LaneLayout layout = layout_of(type, layout_);
  if (pointer != access.getOperand(llvm::isa<llvm::StoreInst>(access) ? 1 : 0) || !layout.is_array) return false;
  if (type->isAggregateType() || !std::has_single_bit(layout.element_bytes)) return false;
  if (type->isVectorTy() && type->getScalarSizeInBits() % 8 != 0) return false;
  if (width_ != 0 && width_ != layout.element_bytes) return false;
  width_ = layout.element_bytes;
  accesses_.push_back(&access);
  return true;
}

bool PrivateArray::has_one_element_size() {
  llvm::SmallVector<llvm::Instruction*, 16> work{&alloca_};
  while (!work.empty()) {
    llvm::Instruction* at = work.pop_back_val();
    for (llvm::User* user : at->users()) {
      auto* use = llvm::cast<llvm::Instruction>(user);
      if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(use)) {
        if (!add_address(*address)) return false;
        work.push_back(address);
      } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(use)) {
        if (!load->isSimple() || !add_access(*load, at, load->getType())) return false;
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(use)) {
        if (!store->isSimple() || store->getValueOperand() == at) return false;
        if (!add_access(*store, at, store->getValueOperand()->getType())) return false;
      } else if (use->isLifetimeStartOrEnd()) {
        markers_.push_back(use);
      } else {
        return false;
      }
    }
  }
  return width_ != 0 && unit_ % width_ == 0;
}

// The address with every offset multiplied by the number of lanes.
llvm::Value* PrivateArray::scaled(llvm::GetElementPtrInst& address, llvm::Value* base) {
  llvm::MapVector<llvm::Value*, llvm::APInt> scales;
  llvm::APInt constant(64, 0);
  llvm::cast<llvm::GEPOperator>(address).collectOffset(layout_, 64, scales, constant);
  llvm::IRBuilder<> builder(&address);
  llvm::Value* offset = builder.getInt64(constant.getZExtValue() * lanes_);
  for (const auto& [index, scale] : scales) {
    llvm::Value* wide = builder.CreateSExtOrTrunc(index, builder.getInt64Ty());
    offset = builder.CreateAdd(offset, builder.CreateMul(wide, builder.getInt64(scale.getZExtValue() * lanes_)));
  }
  return builder.CreateGEP(builder.getInt8Ty(), base, offset);
}

void PrivateArray::interleave() {
  llvm::IRBuilder<> builder(&alloca_);
  const uint64_t bytes = layout_.getTypeAllocSize(alloca_.getAllocatedType()).getFixedValue() * lanes_;
  llvm::AllocaInst* memory = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), bytes));
  memory->setAlignment(llvm::Align(64));
  llvm::Metadata* step = llvm::ConstantAsMetadata::get(builder.getInt64(width_));
  memory->setMetadata(kLaneStep, llvm::MDNode::get(alloca_.getContext(), step));

  llvm::DenseMap<llvm::Value*, llvm::Value*> moved{{&alloca_, memory}};
  for (llvm::Instruction* address : addresses_) {
    auto& one = llvm::cast<llvm::GetElementPtrInst>(*address);
    llvm::Value* copy = scaled(one, moved[one.getPointerOperand()]);
    moved[address] = copy;
  }
  const llvm::Align align(width_);
  for (llvm::Instruction* access : accesses_) {
    builder.SetInsertPoint(access);
    auto* store = llvm::dyn_cast<llvm::StoreInst>(access);
    llvm::Value* base = moved[access->getOperand(store ? 1 : 0)];
    llvm::Type* type = store ? store->getValueOperand()->getType() : access->getType();
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    const unsigned count = vector ? vector->getNumElements() : 1;
    llvm::Value* result = llvm::PoisonValue::get(type);
    for (unsigned i = 0; i < count; ++i) {
      llvm::Value* place = builder.CreateConstGEP1_64(builder.getInt8Ty(), base, i * width_ * lanes_);
      if (store) {
        llvm::Value* value = store->getValueOperand();
        if (vector) value = builder.CreateExtractElement(value, i);
        builder.CreateAlignedStore(value, place, align);
      } else {
        llvm::Value* value = builder.CreateAlignedLoad(type->getScalarType(), place, align);
        result = vector ? builder.CreateInsertElement(result, value, i) : value;
      }
    }
    if (!store) access->replaceAllUsesWith(result);
    access->eraseFromParent();
  }
  for (llvm::Instruction* marker : markers_) marker->eraseFromParent();
  for (llvm::Instruction* address : llvm::reverse(addresses_)) address->eraseFromParent();
  alloca_.eraseFromParent();
}

}  // namespace

void expand_memory_intrinsics(llvm::Function& function) {
  llvm::SmallVector<llvm::MemIntrinsic*, 8> found;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* intrinsic = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) found.push_back(intrinsic);
  }
  const llvm::TargetTransformInfo costs(function.getParent()->getDataLayout());
  for (llvm::MemIntrinsic* intrinsic : found) {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(intrinsic->getLength());
    if (length && length->getValue().ule(kUnrolledBytes)) {
      unroll(*intrinsic, length->getZExtValue());
      intrinsic->eraseFromParent();
    } else {
      expand_as_loop(*intrinsic, costs);  // what it leaves is refused later, by name
    }
  }
}

void interleave_private_memory(llvm::Function& function, unsigned lanes) {
  llvm::SmallVector<llvm::AllocaInst*, 8> found;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (alloca && alloca->isStaticAlloca() && !alloca->isArrayAllocation()) found.push_back(alloca);
  }
  for (llvm::AllocaInst* alloca : found) {
    if (holds_matrices(alloca->getAllocatedType())) continue;
    PrivateArray array(*alloca, lanes);
    if (array.has_one_element_size()) array.interleave();
  }
}

}  // namespace smelt::aot::cpu::lanes
