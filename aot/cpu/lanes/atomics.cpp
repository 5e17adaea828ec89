// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomics of a gang. docs/design/cpu-lanes.md 3, step 11.
//
// Lanes are unordered, so any order of their operations will do. When all lanes go to one place, what they would do one
// after another is combined first and done by one atomic; else they do go one after another.
#include "lanes/access.hpp"
#include "lanes/memory.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::cpu::lanes {
namespace {

using Operation = llvm::AtomicRMWInst::BinOp;

// How the operands of several lanes become one operand. Subtraction adds them up and subtracts the sum.
llvm::Value* combine(llvm::IRBuilder<>& builder, Operation operation, llvm::Value* a, llvm::Value* b) {
  switch (operation) {
    case Operation::Add:
    case Operation::Sub:
      return builder.CreateAdd(a, b);
    case Operation::FAdd:
    case Operation::FSub:
      return builder.CreateFAdd(a, b);
    case Operation::And:
      return builder.CreateAnd(a, b);
    case Operation::Or:
      return builder.CreateOr(a, b);
    case Operation::Xor:
      return builder.CreateXor(a, b);
    case Operation::Max:
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    case Operation::Min:
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case Operation::UMax:
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, a, b);
    case Operation::UMin:
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
    case Operation::FMax:
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, a, b);
    case Operation::FMin:
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, a, b);
    default:
      return nullptr;
  }
}

// The operand that changes nothing, or null for operations whose operands cannot be combined.
llvm::Constant* neutral(Operation operation, llvm::Type* type) {
  const unsigned bits = type->getScalarSizeInBits();
  switch (operation) {
    case Operation::Add:
    case Operation::Sub:
    case Operation::Or:
    case Operation::Xor:
    case Operation::UMax:
      return llvm::Constant::getNullValue(type);
    case Operation::FAdd:
    case Operation::FSub:
      return llvm::ConstantFP::getZero(type, /*Negative=*/true);
    case Operation::And:
    case Operation::UMin:
      return llvm::Constant::getAllOnesValue(type);
    case Operation::Max:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits));
    case Operation::Min:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(bits));
    case Operation::FMax:
    case Operation::FMin:
      return llvm::ConstantFP::getNaN(type);
    default:
      return nullptr;
  }
}

llvm::AtomicRMWInst* copy_of(llvm::IRBuilder<>& builder, const llvm::AtomicRMWInst& atomic, llvm::Value* pointer,
                             llvm::Value* operand) {
  llvm::AtomicRMWInst* copy = builder.CreateAtomicRMW(atomic.getOperation(), pointer, operand, atomic.getAlign(),
                                                      atomic.getOrdering(), atomic.getSyncScopeID());
  copy->setVolatile(atomic.isVolatile());
  return copy;
}

}  // namespace

void Memory::emit_atomic(llvm::AtomicRMWInst& atomic) {
  llvm::Value* pointer = atomic.getPointerOperand();
  llvm::Value* operand = atomic.getValOperand();
  const Operation operation = atomic.getOperation();
  llvm::Type* type = operand->getType();
  llvm::Constant* nothing = type->isPointerTy() ? nullptr : neutral(operation, gang_.wide(type));
  const bool one_place = gang_.shape(pointer).is_uniform() && nothing;
  const bool adds = operation == Operation::Add || operation == Operation::Sub;
  if (one_place && atomic.use_empty() && adds && gang_.shape(operand).is_uniform()) {
    llvm::Value* lanes_on = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, gang_.bits(gang_.mask()));
    llvm::Value* total = builder_.CreateMul(gang_.scalar(operand), builder_.CreateZExtOrTrunc(lanes_on, type));
    copy_of(builder_, atomic, gang_.scalar(pointer), total);
    return;
  }
  if (one_place && (atomic.use_empty() || adds)) {
    // Running totals: lane l's includes all lanes up to l.
    llvm::Value* own = gang_.part(operand);
    if (gang_.mask()) own = builder_.CreateSelect(gang_.mask(), own, nothing);
    llvm::Value* running = own;
    for (unsigned distance = 1; distance < gang_.options.lanes; distance *= 2) {
      llvm::SmallVector<int, 32> from;
      for (unsigned lane = 0; lane < gang_.options.lanes; ++lane) {
        from.push_back(static_cast<int>(lane >= distance ? lane - distance : gang_.options.lanes));
      }
      llvm::Value* below = builder_.CreateShuffleVector(running, nothing, from);
      running = combine(builder_, operation, running, below);
    }
    llvm::Value* total = builder_.CreateExtractElement(running, gang_.options.lanes - 1);
    llvm::Value* old = copy_of(builder_, atomic, gang_.scalar(pointer), total);
    if (atomic.use_empty()) return;
    llvm::Value* before = builder_.CreateSub(running, own);
    gang_.set_parts(&atomic, {operation == Operation::Add ? builder_.CreateAdd(gang_.splat(old), before)
                                                          : builder_.CreateSub(gang_.splat(old), before)});
    return;
  }
  llvm::Value* pointers = gang_.scratch(0, sizeof(uint64_t) * gang_.options.lanes);
  const uint64_t bytes = gang_.layout.getTypeAllocSize(type).getFixedValue();
  llvm::Value* operands = gang_.scratch(1, bytes * gang_.options.lanes);
  llvm::Value* results = gang_.scratch(2, bytes * gang_.options.lanes);
  llvm::Type* pointer_type = pointer->getType();
  builder_.CreateAlignedStore(gang_.part(pointer), pointers, llvm::Align(64));
  builder_.CreateAlignedStore(gang_.part(operand), operands, llvm::Align(64));
  each_lane(gang_, [&](llvm::Value* lane) {
    llvm::Value* to = builder_.CreateLoad(pointer_type, builder_.CreateGEP(pointer_type, pointers, lane));
    llvm::Value* value = builder_.CreateLoad(type, builder_.CreateGEP(type, operands, lane));
    llvm::Value* old = copy_of(builder_, atomic, to, value);
    if (!atomic.use_empty()) builder_.CreateStore(old, builder_.CreateGEP(type, results, lane));
  });
  if (!atomic.use_empty())
    gang_.set_parts(&atomic, {builder_.CreateAlignedLoad(gang_.wide(type), results, llvm::Align(64))});
}

void Memory::emit_compare_exchange(llvm::AtomicCmpXchgInst& exchange) {
  llvm::Value* pointer = exchange.getPointerOperand();
  llvm::Type* type = exchange.getNewValOperand()->getType();
  llvm::Type* pointer_type = pointer->getType();
  const uint64_t bytes = gang_.layout.getTypeAllocSize(type).getFixedValue();
  llvm::Value* pointers = gang_.scratch(0, sizeof(uint64_t) * gang_.options.lanes);
  llvm::Value* expected = gang_.scratch(1, bytes * gang_.options.lanes);
  llvm::Value* wanted = gang_.scratch(2, bytes * gang_.options.lanes);
  llvm::Value* succeeded = gang_.scratch(3, gang_.options.lanes);
  builder_.CreateAlignedStore(gang_.part(pointer), pointers, llvm::Align(64));
  builder_.CreateAlignedStore(gang_.part(exchange.getCompareOperand()), expected, llvm::Align(64));
  builder_.CreateAlignedStore(gang_.part(exchange.getNewValOperand()), wanted, llvm::Align(64));
  each_lane(gang_, [&](llvm::Value* lane) {
    llvm::Value* to = builder_.CreateLoad(pointer_type, builder_.CreateGEP(pointer_type, pointers, lane));
    llvm::Value* old_place = builder_.CreateGEP(type, expected, lane);
    llvm::AtomicCmpXchgInst* copy = builder_.CreateAtomicCmpXchg(
        to, builder_.CreateLoad(type, old_place), builder_.CreateLoad(type, builder_.CreateGEP(type, wanted, lane)),
        exchange.getAlign(), exchange.getSuccessOrdering(), exchange.getFailureOrdering(), exchange.getSyncScopeID());
    copy->setWeak(exchange.isWeak());
    copy->setVolatile(exchange.isVolatile());
    builder_.CreateStore(builder_.CreateExtractValue(copy, 0), old_place);
    builder_.CreateStore(builder_.CreateZExt(builder_.CreateExtractValue(copy, 1), builder_.getInt8Ty()),
                         builder_.CreateGEP(builder_.getInt8Ty(), succeeded, lane));
  });
  llvm::Value* old = builder_.CreateAlignedLoad(gang_.wide(type), expected, llvm::Align(64));
  gang_.set_parts(&exchange,
                  {old, load_wide(gang_, gang_.wide(builder_.getInt1Ty()), succeeded, llvm::Align(32), nullptr)});
}

}  // namespace smelt::aot::cpu::lanes
