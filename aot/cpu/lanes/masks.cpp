// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks: `<lanes x i1>`, null when all lanes are on.
#include "lanes/emit.hpp"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"

namespace smelt::aot::cpu::lanes {

llvm::Value* Emitter::all_on() {
  return llvm::ConstantInt::getTrue(wide(builder_.getInt1Ty()));
}

llvm::Value* Emitter::bits(llvm::Value* mask) {
  llvm::Type* type = builder_.getIntNTy(options_.lanes);
  return mask ? builder_.CreateBitCast(mask, type) : llvm::Constant::getAllOnesValue(type);
}

llvm::Value* Emitter::any(llvm::Value* mask) {
  if (!mask) return builder_.getTrue();
  return builder_.CreateICmpNE(bits(mask), builder_.getIntN(options_.lanes, 0));
}

llvm::Value* Emitter::every(llvm::Value* mask) {
  if (!mask) return builder_.getTrue();
  return builder_.CreateICmpEQ(bits(mask), llvm::Constant::getAllOnesValue(builder_.getIntNTy(options_.lanes)));
}

llvm::Value* Emitter::narrow(llvm::Value* mask, llvm::Value* condition) {
  if (!mask) return condition;
  return builder_.CreateSelect(mask, condition, llvm::ConstantInt::getFalse(condition->getType()), "narrow");
}

llvm::Value* Emitter::blend(llvm::Value* mask, llvm::Value* on, llvm::Value* off) {
  if (!mask || on == off || llvm::isa<llvm::UndefValue>(off)) return on;
  return builder_.CreateSelect(mask, on, off, "blend");
}

// An element of a row-major matrix belongs to the lane that holds it in its thread_elements().
llvm::Value* Emitter::blend_matrix(llvm::Value* mask, llvm::Value* on, llvm::Value* off) {
  if (!mask || on == off || llvm::isa<llvm::UndefValue>(off)) return on;
  llvm::SmallVector<int, 64> owner(64);
  for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
    for (unsigned slot : {0u, 1u}) owner[matrix_element(lane, slot)] = static_cast<int>(lane);
  }
  return builder_.CreateSelect(builder_.CreateShuffleVector(mask, owner), on, off, "blend");
}

llvm::Value* Emitter::first_lane(llvm::Value* mask) {
  if (!mask) return builder_.getInt32(0);
  llvm::Value* on = bits(mask);
  return builder_.CreateZExtOrTrunc(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, on, builder_.getTrue()),
                                    builder_.getInt32Ty());
}

llvm::Value* Emitter::last_lane(llvm::Value* mask) {
  if (!mask) return builder_.getInt32(options_.lanes - 1);
  llvm::Value* on = bits(mask);
  llvm::Value* above = builder_.CreateZExtOrTrunc(
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, on, builder_.getTrue()), builder_.getInt32Ty());
  return builder_.CreateSub(builder_.getInt32(options_.lanes - 1), above);
}

Parts Emitter::by_wholeness(llvm::function_ref<Parts()> access) {
  if (!whole_ || mask() != entry_mask_) return access();
  const auto when = [&](Here here) {
    here_ = here;
    Parts result = access();
    here_ = Here::anything;
    return result;
  };
  return choose(whole_, /*first_is_likely=*/true, [&] { return when(Here::all); }, [&] { return when(Here::not_all); });
}

// One pass of `body` for each lane that is on, lowest first.
void Emitter::each_lane(llvm::Value* mask, llvm::function_ref<void(llvm::Value*)> body, bool stays_loop) {
  llvm::Value* on = builder_.CreateZExt(bits(mask), builder_.getInt32Ty());
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(context_, "lane", &target_);
  auto* after = llvm::BasicBlock::Create(context_, "lanes.done", &target_);
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* left = builder_.CreatePHI(builder_.getInt32Ty(), 2);
  left->addIncoming(on, before);
  body(builder_.CreateZExt(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, builder_.getTrue()),
                           builder_.getInt64Ty()));
  llvm::Value* next = builder_.CreateAnd(left, builder_.CreateSub(left, builder_.getInt32(1)));
  left->addIncoming(next, builder_.GetInsertBlock());
  auto* end = builder_.CreateCondBr(builder_.CreateICmpNE(next, builder_.getInt32(0)), loop, after);
  if (stays_loop) {
    llvm::Metadata* hint = llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.unroll.disable")});
    llvm::MDNode* loop_id = llvm::MDNode::getDistinct(context_, {nullptr, hint});
    loop_id->replaceOperandWith(0, loop_id);
    end->setMetadata(llvm::LLVMContext::MD_loop, loop_id);
  }
  builder_.SetInsertPoint(after);
}

Parts Emitter::choose(llvm::Value* condition, bool first_is_likely, llvm::function_ref<Parts()> first,
                      llvm::function_ref<Parts()> second) {
  auto* one = llvm::BasicBlock::Create(context_, "likely", &target_);
  auto* other = llvm::BasicBlock::Create(context_, "unlikely", &target_);
  auto* join = llvm::BasicBlock::Create(context_, "join", &target_);
  llvm::MDNode* weights = first_is_likely ? llvm::MDBuilder(context_).createBranchWeights(1 << 20, 1) : nullptr;
  builder_.CreateCondBr(condition, one, other, weights);
  builder_.SetInsertPoint(one);
  const Parts fast = first();
  llvm::BasicBlock* one_end = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(other);
  const Parts slow = second();
  llvm::BasicBlock* other_end = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  Parts result;
  for (size_t i = 0; i < fast.size(); ++i) {
    llvm::PHINode* phi = builder_.CreatePHI(fast[i]->getType(), 2);
    phi->addIncoming(fast[i], one_end);
    phi->addIncoming(slow[i], other_end);
    result.push_back(phi);
  }
  return result;
}

}  // namespace smelt::aot::cpu::lanes
