// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An IRBuilder with loops and conditions, so that loops read like the code they make. Mutable state lives in
// variables (allocas of the entry block), which LLVM turns into registers.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace smelt::aot::cpu {

class FlowBuilder : public llvm::IRBuilder<> {
 public:
  explicit FlowBuilder(llvm::BasicBlock* block) : llvm::IRBuilder<>(block) {}

  llvm::BasicBlock* block(const llvm::Twine& name) {
    return llvm::BasicBlock::Create(getContext(), name, GetInsertBlock()->getParent());
  }

  llvm::AllocaInst* variable(llvm::Type* type, const llvm::Twine& name, llvm::Value* initial = nullptr) {
    llvm::BasicBlock& entry = GetInsertBlock()->getParent()->getEntryBlock();
    llvm::IRBuilder<> at(&entry, entry.begin());
    llvm::AllocaInst* slot = at.CreateAlloca(type, nullptr, name);
    if (initial != nullptr) CreateStore(initial, slot);
    return slot;
  }
  llvm::Value* get(llvm::AllocaInst* slot) { return CreateLoad(slot->getAllocatedType(), slot); }

  /// for (i = low; i < high; i += step): `high` must be above `low`. `properties` is loop metadata or null.
  template <class Body>
  void loop_at_least_once(llvm::Value* low, llvm::Value* high, llvm::MDNode* properties, Body body) {
    llvm::BasicBlock* before = GetInsertBlock();
    llvm::BasicBlock* head = block("loop");
    CreateBr(head);
    SetInsertPoint(head);
    llvm::PHINode* index = CreatePHI(low->getType(), 2, "i");
    index->addIncoming(low, before);
    body(index);
    llvm::Value* next = CreateAdd(index, llvm::ConstantInt::get(low->getType(), 1), "i.next", true, false);
    index->addIncoming(next, GetInsertBlock());
    llvm::BasicBlock* after = block("after");
    llvm::BranchInst* branch = CreateCondBr(CreateICmpULT(next, high), head, after);
    if (properties != nullptr) branch->setMetadata(llvm::LLVMContext::MD_loop, properties);
    SetInsertPoint(after);
  }

  /// The same for any `low` and `high`, in steps. Bodies of such loops are whole units of vector code: LLVM is told not
  /// to unroll or vectorise them once more.
  template <class Body>
  void loop(llvm::Value* low, llvm::Value* high, uint32_t step, Body body) {
    llvm::BasicBlock* before = GetInsertBlock();
    llvm::BasicBlock* head = block("loop");
    llvm::BasicBlock* inside = block("body");
    llvm::BasicBlock* after = block("after");
    CreateBr(head);
    SetInsertPoint(head);
    llvm::PHINode* index = CreatePHI(low->getType(), 2, "i");
    index->addIncoming(low, before);
    CreateCondBr(CreateICmpULT(index, high), inside, after);
    SetInsertPoint(inside);
    body(index);
    index->addIncoming(CreateAdd(index, llvm::ConstantInt::get(low->getType(), step), "i.next"), GetInsertBlock());
    CreateBr(head)->setMetadata(llvm::LLVMContext::MD_loop, as_it_is());
    SetInsertPoint(after);
  }

  /// do body() while (body's answer).
  template <class Body>
  void repeat_while(Body body) {
    llvm::BasicBlock* head = block("repeat");
    CreateBr(head);
    SetInsertPoint(head);
    llvm::Value* again = body();
    llvm::BasicBlock* after = block("after");
    CreateCondBr(again, head, after);
    SetInsertPoint(after);
  }

  template <class Then>
  void if_then(llvm::Value* condition, Then then) {
    llvm::BasicBlock* yes = block("then");
    llvm::BasicBlock* after = block("after");
    CreateCondBr(condition, yes, after);
    SetInsertPoint(yes);
    then();
    CreateBr(after);
    SetInsertPoint(after);
  }

  template <class Then, class Else>
  void if_else(llvm::Value* condition, Then then, Else otherwise) {
    llvm::BasicBlock* yes = block("then");
    llvm::BasicBlock* no = block("else");
    llvm::BasicBlock* after = block("after");
    CreateCondBr(condition, yes, no);
    SetInsertPoint(yes);
    then();
    CreateBr(after);
    SetInsertPoint(no);
    otherwise();
    CreateBr(after);
    SetInsertPoint(after);
  }

 private:
  llvm::MDNode* as_it_is() {
    llvm::LLVMContext& context = getContext();
    auto* no_unroll = llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.disable")});
    auto* no_vectors = llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.vectorize.enable"),
                                                   llvm::ConstantAsMetadata::get(getFalse())});
    auto* loop = llvm::MDNode::getDistinct(context, {nullptr, no_unroll, no_vectors});
    loop->replaceOperandWith(0, loop);
    return loop;
  }
};

}  // namespace smelt::aot::cpu
