// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomics and fences (docs/formats/air.md 3.6, docs/formats/metal-language.md 3.8).
//
//   air.atomic.<global|local>.<operation>[...](T* p, [T v,] i32 order, i32 scope, [i32 flags,] i1 volatile)
//   air.atomic.<global|local>.cmpxchg.weak.<T>(T* p, T* expected, T desired, i32 success, i32 failure, i32 scope,
//                                              [i32 flags,] i1 volatile) -> the value seen
// The flags operand is there from AIR 2.9 on. Device atomics are ordered as they ask, relaxed in practice. Threadgroup
// atomics get syncscope("singlethread") and become plain accesses at the end.
#include "lower/lower.hpp"
#include "lower/lowerings.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"

namespace smelt::aot::cpu {
namespace {

using llvm::AtomicOrdering;
using llvm::AtomicRMWInst;
using llvm::Value;

AtomicOrdering ordering_of(const Value* operand) {
  const auto* order = llvm::dyn_cast<llvm::ConstantInt>(operand);
  if (!order) return AtomicOrdering::SequentiallyConsistent;
  switch (order->getZExtValue()) {
    case 0:
      return AtomicOrdering::Monotonic;
    case 2:
      return AtomicOrdering::Acquire;
    case 3:
      return AtomicOrdering::Release;
    case 4:
      return AtomicOrdering::AcquireRelease;
    default:
      return AtomicOrdering::SequentiallyConsistent;
  }
}
// A load cannot release and a store cannot acquire.
AtomicOrdering for_load(AtomicOrdering order) {
  if (order == AtomicOrdering::Release) return AtomicOrdering::Monotonic;
  return order == AtomicOrdering::AcquireRelease ? AtomicOrdering::Acquire : order;
}
AtomicOrdering for_store(AtomicOrdering order) {
  if (order == AtomicOrdering::Acquire) return AtomicOrdering::Monotonic;
  return order == AtomicOrdering::AcquireRelease ? AtomicOrdering::Release : order;
}

bool is_atomic_type(const llvm::Type* type) {
  return type->isFloatTy() || type->isIntegerTy(8) || type->isIntegerTy(16) || type->isIntegerTy(32) ||
         type->isIntegerTy(64);
}
llvm::Align natural_alignment(const llvm::Type* type) {
  return llvm::Align(type->getPrimitiveSizeInBits() / 8);
}

/// The trailing operands from `first` on: orders and scope as i32, one more i32 from AIR 2.9, then the i1.
bool has_tail(const Call& call, size_t first, size_t integers) {
  const size_t count = call.operands.size();
  if (count != first + integers + 1 && count != first + integers + 2) return false;
  for (size_t i = first; i + 1 < count; ++i)
    if (!call[i]->getType()->isIntegerTy(32)) return false;
  return call[count - 1]->getType()->isIntegerTy(1);
}

Result<Value*> atomic_load(Call& call, llvm::SyncScope::ID scope) {
  if (!has_tail(call, 1, 2) || !call[0]->getType()->isPointerTy() || !is_atomic_type(call.type))
    return bad_call(call, "(T*, i32, i32, i1) -> T");
  llvm::LoadInst* load = call.builder.CreateAlignedLoad(call.type, call[0], natural_alignment(call.type));
  load->setAtomic(for_load(ordering_of(call[1])), scope);
  return load;
}
Result<Value*> atomic_store(Call& call, llvm::SyncScope::ID scope) {
  if (call.operands.size() < 2 || !has_tail(call, 2, 2) || !call[0]->getType()->isPointerTy() ||
      !is_atomic_type(call[1]->getType()))
    return bad_call(call, "(T*, T, i32, i32, i1)");
  llvm::StoreInst* store = call.builder.CreateAlignedStore(call[1], call[0], natural_alignment(call[1]->getType()));
  store->setAtomic(for_store(ordering_of(call[2])), scope);
  return nullptr;
}

// Compares bits, for floats too: a NaN equals itself, as MSL demands.
Result<Value*> atomic_compare_exchange(Call& call, llvm::SyncScope::ID scope) {
  auto& b = call.builder;
  if (call.operands.size() < 3 || !has_tail(call, 3, 3) || !call[0]->getType()->isPointerTy() ||
      !call[1]->getType()->isPointerTy() || !is_atomic_type(call[2]->getType()) ||
      (!call.type->isVoidTy() && call.type != call[2]->getType()))
    return bad_call(call, "(T*, T*, T, i32, i32, i32, i1) -> T");
  llvm::Type* type = call[2]->getType();
  llvm::Type* bits = b.getIntNTy(type->getPrimitiveSizeInBits());
  const llvm::Align alignment = natural_alignment(type);
  Value* expected = b.CreateAlignedLoad(bits, call[1], alignment);
  llvm::AtomicCmpXchgInst* exchange =
      b.CreateAtomicCmpXchg(call[0], expected, b.CreateBitCast(call[2], bits), alignment, ordering_of(call[3]),
                            for_load(ordering_of(call[4])), scope);
  // Not weak: the caller tells success by `seen == expected`, which must not be said of a store that did not happen.
  Value* seen = b.CreateExtractValue(exchange, 0);
  b.CreateAlignedStore(seen, call[1], alignment);
  return call.type->isVoidTy() ? nullptr : b.CreateBitCast(seen, type);
}

AtomicRMWInst::BinOp binary_operation(llvm::StringRef name, bool is_signed, bool is_float) {
  using Op = AtomicRMWInst;
  if (name == "xchg") return Op::Xchg;
  if (is_float)
    return llvm::StringSwitch<Op::BinOp>(name)
        .Case("add", Op::FAdd)
        .Case("sub", Op::FSub)
        .Case("min", Op::FMin)
        .Case("max", Op::FMax)
        .Default(Op::BAD_BINOP);
  return llvm::StringSwitch<Op::BinOp>(name)
      .Case("add", Op::Add)
      .Case("sub", Op::Sub)
      .Case("and", Op::And)
      .Case("or", Op::Or)
      .Case("xor", Op::Xor)
      .Case("min", is_signed ? Op::Min : Op::UMin)
      .Case("max", is_signed ? Op::Max : Op::UMax)
      .Default(Op::BAD_BINOP);
}

// i64 minimum and maximum give nothing back.
Result<Value*> atomic_read_modify_write(Call& call, llvm::SyncScope::ID scope) {
  if (call.operands.size() < 2 || !has_tail(call, 2, 2) || !call[0]->getType()->isPointerTy() ||
      !is_atomic_type(call[1]->getType()) || (!call.type->isVoidTy() && call.type != call[1]->getType()))
    return bad_call(call, "(T*, T, i32, i32, i1) -> T");
  llvm::Type* type = call[1]->getType();
  const auto operation = binary_operation(call.name.part(1), call.is_signed(), type->isFloatTy());
  if (operation == AtomicRMWInst::BAD_BINOP) return bad_call(call, "an operation that its element type has");
  Value* old =
      call.builder.CreateAtomicRMW(operation, call[0], call[1], natural_alignment(type), ordering_of(call[2]), scope);
  return call.type->isVoidTy() ? nullptr : old;
}

// (i32 flags, i32 order, i32 scope). One OS thread runs a threadgroup, so only device memory can need a fence.
Result<Value*> atomic_fence(Call& call) {
  if (call.operands.size() < 2 || !call.type->isVoidTy()) return bad_call(call, "(i32 flags, i32 order, i32 scope)");
  const auto* flags = llvm::dyn_cast<llvm::ConstantInt>(call[0]);
  const AtomicOrdering order = ordering_of(call[1]);
  constexpr uint64_t kDevice = 1;
  if (order != AtomicOrdering::Monotonic && (!flags || flags->getZExtValue() & kDevice))
    call.builder.CreateFence(order);
  return nullptr;
}

}  // namespace

Result<Value*> lowering::atomic(Call& call) {
  const llvm::StringRef space = call.name.part(0), operation = call.name.part(1);
  if (space == "fence") return atomic_fence(call);
  const llvm::SyncScope::ID scope = space == "local" ? llvm::SyncScope::SingleThread : llvm::SyncScope::System;
  if (operation == "load") return atomic_load(call, scope);
  if (operation == "store") return atomic_store(call, scope);
  if (operation == "cmpxchg") return atomic_compare_exchange(call, scope);
  return atomic_read_modify_write(call, scope);
}

void plain_single_thread_atomics(llvm::Function& function) {
  const auto single = llvm::SyncScope::SingleThread;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      if (!load->isAtomic() || load->getSyncScopeID() != single) continue;
      load->setAtomic(AtomicOrdering::NotAtomic);
      load->setVolatile(true);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      if (!store->isAtomic() || store->getSyncScopeID() != single) continue;
      store->setAtomic(AtomicOrdering::NotAtomic);
      store->setVolatile(true);
    } else if (auto* rmw = llvm::dyn_cast<AtomicRMWInst>(&instruction)) {
      if (rmw->getSyncScopeID() != single) continue;
      llvm::IRBuilder<> b(rmw);
      Value* old = b.CreateAlignedLoad(rmw->getType(), rmw->getPointerOperand(), rmw->getAlign(), true);
      Value* updated = llvm::buildAtomicRMWValue(rmw->getOperation(), b, old, rmw->getValOperand());
      b.CreateAlignedStore(updated, rmw->getPointerOperand(), rmw->getAlign(), true);
      rmw->replaceAllUsesWith(old);
      rmw->eraseFromParent();
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      if (exchange->getSyncScopeID() != single) continue;
      llvm::IRBuilder<> b(exchange);
      llvm::Type* type = exchange->getNewValOperand()->getType();
      Value* old = b.CreateAlignedLoad(type, exchange->getPointerOperand(), exchange->getAlign(), true);
      Value* equal = b.CreateICmpEQ(old, exchange->getCompareOperand());
      Value* updated = b.CreateSelect(equal, exchange->getNewValOperand(), old);
      b.CreateAlignedStore(updated, exchange->getPointerOperand(), exchange->getAlign(), true);
      Value* result = b.CreateInsertValue(llvm::PoisonValue::get(exchange->getType()), old, 0);
      exchange->replaceAllUsesWith(b.CreateInsertValue(result, equal, 1));
      exchange->eraseFromParent();
    }
  }
}

}  // namespace smelt::aot::cpu
