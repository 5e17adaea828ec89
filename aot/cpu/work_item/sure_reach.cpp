// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/sure_reach.hpp"

#include "abi/dispatch_block.hpp"
#include "work_item/fault.hpp"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

#include <map>

namespace smelt::aot::cpu {
namespace {

constexpr uint64_t kMostDistance = uint64_t{1} << 31;  // of strides and offsets, so that no product wraps

class Finder {
 public:
  explicit Finder(const WorkItem& item) : item_(item), layout_(item.function->getParent()->getDataLayout()) {}

  std::vector<SureReach> find() {
    llvm::PostDominatorTree always(*item_.function);
    const llvm::BasicBlock* const entry = &item_.function->getEntryBlock();
    for (const llvm::BasicBlock& block : *item_.function) {
      if (!always.dominates(&block, entry)) continue;
      for (const llvm::Instruction& instruction : block) look_at(instruction);
    }
    std::vector<SureReach> result;
    for (const auto& [buffer, reach] : furthest_) result.push_back(reach);
    return result;
  }

 private:
  void look_at(const llvm::Instruction& instruction) {
    const llvm::Value* pointer = nullptr;
    const llvm::Type* type = nullptr;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      pointer = load->getPointerOperand();
      type = load->getType();
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      pointer = store->getPointerOperand();
      type = store->getValueOperand()->getType();
    } else {
      return;
    }
    const llvm::TypeSize bytes = layout_.getTypeStoreSize(const_cast<llvm::Type*>(type));
    if (!bytes.isScalable()) add(pointer, bytes.getFixedValue(), llvm::isa<llvm::StoreInst>(instruction));
  }

  void add(const llvm::Value* pointer, uint64_t bytes, bool is_write) {
    const unsigned width = layout_.getIndexTypeSizeInBits(pointer->getType());
    llvm::APInt constant(width, 0);
    llvm::MapVector<llvm::Value*, llvm::APInt> variable;
    while (const auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      if (!step->collectOffset(layout_, width, variable, constant)) return;
      pointer = step->getPointerOperand();
    }
    const WorkParameter* const base = parameter(pointer);
    if (base == nullptr || !base->is_bound(BindingClass::buffer) || variable.size() != 1) return;
    const auto& [index, scale] = variable.front();
    if (!is_position(index) || constant.isNegative() || scale.isNegative()) return;
    if (constant.getZExtValue() >= kMostDistance || scale.getZExtValue() >= kMostDistance || scale.isZero()) return;
    const SureReach reach{base->index, scale.getZExtValue(), constant.getZExtValue(), bytes, is_write};
    const auto [known, is_new] = furthest_.try_emplace(reach.buffer, reach);
    if (!is_new && std::pair(known->second.stride, known->second.offset + known->second.bytes) <
                       std::pair(reach.stride, reach.offset + reach.bytes))
      known->second = reach;
  }

  const WorkParameter* parameter(const llvm::Value* value) const {
    const auto* argument = llvm::dyn_cast<llvm::Argument>(value);
    return argument == nullptr ? nullptr : &item_.parameters[argument->getArgNo()];
  }

  /// thread_position_in_grid.x, widened or not.
  bool is_position(const llvm::Value* value) const {
    using namespace llvm::PatternMatch;
    const llvm::Value* inner = nullptr;
    if (match(value, m_ZExtOrSExt(m_Value(inner)))) value = inner;
    const WorkParameter* const from = parameter(value);
    return from != nullptr && from->kind == WorkParameter::Kind::builtin &&
           from->builtin == Builtin::thread_position_in_grid && from->component == 0;
  }

  const WorkItem& item_;
  const llvm::DataLayout& layout_;
  std::map<uint32_t, SureReach> furthest_;
};

}  // namespace

std::vector<SureReach> find_sure_reach(const WorkItem& item) {
  return Finder(item).find();
}

void refuse_short_buffers(llvm::Function& entry, std::span<const SureReach> reaches) {
  if (reaches.empty()) return;
  llvm::LLVMContext& context = entry.getContext();
  llvm::BasicBlock* const goes_on = entry.getEntryBlock().splitBasicBlock(entry.getEntryBlock().begin(), "goes_on");
  llvm::BasicBlock* const first = &entry.getEntryBlock();
  // What stands in the entry block may have to stay there: memory of a fixed size.
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(*goes_on))
    if (llvm::isa<llvm::AllocaInst>(instruction)) instruction.moveBefore(first->getTerminator());
  first->getTerminator()->eraseFromParent();

  llvm::IRBuilder<> builder(first);
  llvm::Value* const dispatch = entry.getArg(0);
  llvm::Value* const lengths = SMELT_DISPATCH_FIELD(builder, builder.getPtrTy(), dispatch, buffer_bytes);
  llvm::Value* const threads = SMELT_DISPATCH_FIELD(builder, builder.getInt32Ty(), dispatch, grid);
  llvm::Value* const last = builder.CreateSub(builder.CreateZExt(threads, builder.getInt64Ty()), builder.getInt64(1));
  for (size_t i = 0; i < reaches.size(); ++i) {
    const SureReach& reach = reaches[i];
    llvm::BasicBlock* const too_short = llvm::BasicBlock::Create(context, "too_short", &entry);
    llvm::BasicBlock* const next =
        i + 1 == reaches.size() ? goes_on : llvm::BasicBlock::Create(context, "next", &entry, goes_on);
    llvm::Value* const has = load_constant(builder, builder.getInt64Ty(), lengths, reach.buffer * sizeof(uint64_t));
    const uint64_t end = reach.offset + reach.bytes;
    llvm::Value* const needs =
        builder.CreateAdd(builder.CreateMul(last, builder.getInt64(reach.stride)), builder.getInt64(end));
    // No bytes at all may be a caller's way to bind a place for nothing, of which it does not say how large it is.
    llvm::Value* const is_known = builder.CreateICmpNE(has, builder.getInt64(0));
    builder.CreateCondBr(builder.CreateAnd(is_known, builder.CreateICmpULT(has, needs)), too_short, next);

    builder.SetInsertPoint(too_short);
    llvm::Value* const fit = builder.CreateAdd(
        builder.CreateUDiv(builder.CreateSub(has, builder.getInt64(end)), builder.getInt64(reach.stride)),
        builder.getInt64(1));
    llvm::Value* const thread =
        builder.CreateSelect(builder.CreateICmpULT(has, builder.getInt64(end)), builder.getInt64(0), fit);
    llvm::Value* const offset =
        builder.CreateAdd(builder.CreateMul(thread, builder.getInt64(reach.stride)), builder.getInt64(reach.offset));
    report_fault(builder, dispatch,
                 {.object = builder.getInt32(reach.buffer),
                  .offset = offset,
                  .bytes = builder.getInt64(reach.bytes),
                  .position = {builder.CreateTrunc(thread, builder.getInt32Ty())},
                  .is_write = reach.is_write});
    builder.CreateRetVoid();
    builder.SetInsertPoint(next);
  }
}

}  // namespace smelt::aot::cpu
