// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks: `<lanes x i1>`, null when all lanes are on.
#include "lanes/context.hpp"
#include "lower/collectives.hpp"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"

namespace smelt::aot::cpu::lanes {

llvm::Value* GangContext::all_on() {
  return llvm::ConstantInt::getTrue(wide(builder.getInt1Ty()));
}

llvm::Value* GangContext::bits(llvm::Value* mask) {
  llvm::Type* type = builder.getIntNTy(options.lanes);
  return mask ? builder.CreateBitCast(mask, type) : llvm::Constant::getAllOnesValue(type);
}

llvm::Value* GangContext::any(llvm::Value* mask) {
  if (!mask) return builder.getTrue();
  return builder.CreateICmpNE(bits(mask), builder.getIntN(options.lanes, 0));
}

llvm::Value* GangContext::every(llvm::Value* mask) {
  if (!mask) return builder.getTrue();
  return builder.CreateICmpEQ(bits(mask), llvm::Constant::getAllOnesValue(builder.getIntNTy(options.lanes)));
}

llvm::Value* GangContext::blend(llvm::Value* mask, llvm::Value* on, llvm::Value* off) {
  if (!mask || on == off || llvm::isa<llvm::UndefValue>(off)) return on;
  return builder.CreateSelect(mask, on, off, "blend");
}

// An element of a row-major matrix belongs to the lane that holds it in its thread_elements().
llvm::Value* GangContext::blend_matrix(llvm::Value* mask, llvm::Value* on, llvm::Value* off) {
  if (!mask || on == off || llvm::isa<llvm::UndefValue>(off)) return on;
  llvm::SmallVector<int, 64> owner(64);
  for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
    for (unsigned slot : {0u, 1u}) owner[matrix_element(lane, slot)] = static_cast<int>(lane);
  }
  return builder.CreateSelect(builder.CreateShuffleVector(mask, owner), on, off, "blend");
}

Parts GangContext::choose(llvm::Value* condition, llvm::function_ref<Parts()> first,
                          llvm::function_ref<Parts()> second) {
  llvm::LLVMContext& context = builder.getContext();
  auto* one = llvm::BasicBlock::Create(context, "likely", &target);
  auto* other = llvm::BasicBlock::Create(context, "unlikely", &target);
  auto* join = llvm::BasicBlock::Create(context, "join", &target);
  llvm::MDNode* weights = llvm::MDBuilder(context).createBranchWeights(1 << 20, 1);
  builder.CreateCondBr(condition, one, other, weights);
  builder.SetInsertPoint(one);
  const Parts fast = first();
  llvm::BasicBlock* one_end = builder.GetInsertBlock();
  builder.CreateBr(join);
  builder.SetInsertPoint(other);
  const Parts slow = second();
  llvm::BasicBlock* other_end = builder.GetInsertBlock();
  builder.CreateBr(join);
  builder.SetInsertPoint(join);
  Parts result;
  for (size_t i = 0; i < fast.size(); ++i) {
    llvm::PHINode* phi = builder.CreatePHI(fast[i]->getType(), 2);
    phi->addIncoming(fast[i], one_end);
    phi->addIncoming(slow[i], other_end);
    result.push_back(phi);
  }
  return result;
}

Parts GangContext::choose_all_on(llvm::Value* all, llvm::function_ref<Parts()> fast, llvm::function_ref<Parts()> slow) {
  const auto when = [&](Here here, llvm::function_ref<Parts()> way) {
    const Here before = here_;
    here_ = here;
    Parts result = way();
    here_ = before;
    return result;
  };
  return choose(all, [&] { return when(Here::all, fast); }, [&] { return when(Here::not_all, slow); });
}

Parts GangContext::as_whole(llvm::function_ref<Parts()> access) {
  const Here before = here_;
  here_ = Here::all;
  Parts result = access();
  here_ = before;
  return result;
}

Parts GangContext::by_wholeness(llvm::function_ref<Parts()> access) {
  return whole_ && mask() == entry_mask_ ? choose_all_on(whole_, access, access) : access();
}

}  // namespace smelt::aot::cpu::lanes
