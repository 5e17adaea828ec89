// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's atomic instructions as air.atomic.* (docs/formats/air.md 3.6).
//
//   i32                        the operation of that name; order relaxed, volatile set, as Apple writes it
//   float                      add and sub of device memory (AIR 2.5); everything else by its bits, in a loop
//   half, bfloat, i8, i16      a compare-and-swap loop on the 32-bit word around them
//   i64                        unsigned min and max of device memory whose result nobody uses; all else is an error
//   thread memory (space 0)    no atomics needed: plain instructions
//
// A compare-and-swap answers with the value it saw, so success is "saw what was expected"; that is also how Apple's own
// library decides. Orders above relaxed become fences around the operation (memory_order.hpp), unless no thread of the
// kernel can look: an order is seen only by those who use an atomic's result, or read volatile memory.
#include "legalise/memory_order.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"

namespace smelt::aot::air {
namespace {

using Operation = llvm::AtomicRMWInst::BinOp;

std::string_view space_name(unsigned space) {
  return space == kDevice ? "global" : "local";
}

unsigned space_of(const llvm::Value& pointer) {
  return pointer.getType()->getPointerAddressSpace();
}

/// The 32-bit word that holds a smaller value, and where in it.
struct Word {
  llvm::Value* pointer;
  llvm::Value* shift;  ///< null: the value is the word
  llvm::Type* held;    ///< the integer type of the value, as wide as it is
};

class AtomicLowering {
 public:
  AtomicLowering(PassContext& context, bool orders_matter) : context_(context), orders_matter_(orders_matter) {}

  Result<void> lower(llvm::AtomicRMWInst& rmw);
  Result<void> lower(llvm::AtomicCmpXchgInst& exchange);
  Result<void> lower(llvm::LoadInst& load);
  Result<void> lower(llvm::StoreInst& store);

 private:
  using Builder = llvm::IRBuilder<>;

  MemoryScope operand_scope(const llvm::Value& pointer) const {
    return space_of(pointer) == kDevice ? MemoryScope::device : MemoryScope::threadgroup;
  }
  llvm::SmallVector<llvm::Value*, 4> tail(Builder& builder, const llvm::Value& pointer) const {
    llvm::SmallVector<llvm::Value*, 4> operands = {builder.getInt32(0),
                                                   builder.getInt32(static_cast<uint32_t>(operand_scope(pointer)))};
    if (context_.target.air >= kFirstMemoryFlags) operands.push_back(builder.getInt32(0));
    operands.push_back(builder.getTrue());
    return operands;
  }
  std::string name(const llvm::Value& pointer, std::string_view rest) const {
    return fmt::format("air.atomic.{}.{}", space_name(space_of(pointer)), rest);
  }
  Result<llvm::Value*> call(Builder& builder, std::string_view rest, llvm::Value* pointer,
                            llvm::ArrayRef<llvm::Value*> operands);

  Result<void> fence_before(llvm::Instruction& at, llvm::AtomicOrdering order, llvm::SyncScope::ID scope);
  Result<void> fence_after(llvm::Instruction& at, llvm::AtomicOrdering order, llvm::SyncScope::ID scope);

  Word word_of(Builder& builder, llvm::Value* pointer, llvm::Type* type, llvm::Align align);
  llvm::Value* value_in(Builder& builder, const Word& word, llvm::Value* bits, llvm::Type* type);
  llvm::Value* word_with(Builder& builder, const Word& word, llvm::Value* bits, llvm::Value* value);

  /// old = *p; do { new = f(old) } while (!cas(p, old, new)). `f` answers the new value. Returns the old value.
  template <class Compute>
  Result<llvm::Value*> swap_loop(llvm::Instruction& at, llvm::Value* pointer, llvm::Type* type, llvm::Align align,
                                 Compute compute);
  Result<llvm::Value*> compare_and_swap(Builder& builder, llvm::Value* pointer, llvm::Value* expected,
                                        llvm::Value* desired);
  Result<llvm::Value*> direct(Builder& builder, llvm::AtomicRMWInst& rmw, bool& done);

  PassContext& context_;
  bool orders_matter_;
};

/// add.u, max.s, ... of an i32 operation; empty when there is none.
std::string_view i32_operation(Operation operation) {
  switch (operation) {
    case Operation::Add:
      return "add.u.i32";
    case Operation::Sub:
      return "sub.u.i32";
    case Operation::And:
      return "and.u.i32";
    case Operation::Or:
      return "or.u.i32";
    case Operation::Xor:
      return "xor.u.i32";
    case Operation::Max:
      return "max.s.i32";
    case Operation::Min:
      return "min.s.i32";
    case Operation::UMax:
      return "max.u.i32";
    case Operation::UMin:
      return "min.u.i32";
    case Operation::Xchg:
      return "xchg.i32";
    default:
      return {};
  }
}

Result<void> check_space(const llvm::Instruction& at, const llvm::Value& pointer) {
  const unsigned space = space_of(pointer);
  if (space == kDevice || space == kThreadgroup) return {};
  return refuse(at, "atomics work on device and threadgroup memory, not on address space {}", space);
}

Result<llvm::Value*> AtomicLowering::call(Builder& builder, std::string_view rest, llvm::Value* pointer,
                                          llvm::ArrayRef<llvm::Value*> operands) {
  llvm::SmallVector<llvm::Value*, 8> arguments = {pointer};
  arguments.append(operands.begin(), operands.end());
  const auto last = tail(builder, *pointer);
  arguments.append(last.begin(), last.end());
  SMELT_TRY(llvm::CallInst* const made, call_air(builder, context_, name(*pointer, rest), arguments));
  return made;
}

Result<void> AtomicLowering::fence_before(llvm::Instruction& at, llvm::AtomicOrdering order,
                                          llvm::SyncScope::ID scope) {
  if (!orders_matter_ || !llvm::isReleaseOrStronger(order)) return {};
  Builder builder(&at);
  return emit_fence(context_, builder, scope_of(at.getContext(), scope), at);
}

Result<void> AtomicLowering::fence_after(llvm::Instruction& at, llvm::AtomicOrdering order, llvm::SyncScope::ID scope) {
  if (!orders_matter_ || !llvm::isAcquireOrStronger(order)) return {};
  Builder builder(at.getNextNode());
  return emit_fence(context_, builder, scope_of(at.getContext(), scope), at);
}

Word AtomicLowering::word_of(Builder& builder, llvm::Value* pointer, llvm::Type* type, llvm::Align align) {
  const unsigned bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
  llvm::Type* const held = builder.getIntNTy(bits);
  if (bits == 32) return {pointer, nullptr, held};
  if (align >= llvm::Align(4)) return {pointer, builder.getInt32(0), held};
  llvm::Value* const address = builder.CreatePtrToInt(pointer, builder.getInt64Ty());
  llvm::Value* const offset = builder.CreateAnd(address, builder.getInt64(3));
  llvm::Value* const word = builder.CreateGEP(builder.getInt8Ty(), pointer, builder.CreateNeg(offset));
  return {word, builder.CreateShl(builder.CreateTrunc(offset, builder.getInt32Ty()), 3), held};
}

llvm::Value* AtomicLowering::value_in(Builder& builder, const Word& word, llvm::Value* bits, llvm::Type* type) {
  if (word.shift) bits = builder.CreateTrunc(builder.CreateLShr(bits, word.shift), word.held);
  return builder.CreateBitCast(bits, type);
}

llvm::Value* AtomicLowering::word_with(Builder& builder, const Word& word, llvm::Value* bits, llvm::Value* value) {
  value = builder.CreateBitCast(value, word.held);
  if (!word.shift) return value;
  const uint64_t low = (1ull << word.held->getIntegerBitWidth()) - 1;
  llvm::Value* const hole =
      builder.CreateNot(builder.CreateShl(builder.getInt32(static_cast<uint32_t>(low)), word.shift));
  llvm::Value* const moved = builder.CreateShl(builder.CreateZExt(value, builder.getInt32Ty()), word.shift);
  return builder.CreateOr(builder.CreateAnd(bits, hole), moved);
}

Result<llvm::Value*> AtomicLowering::compare_and_swap(Builder& builder, llvm::Value* pointer, llvm::Value* expected,
                                                      llvm::Value* desired) {
  llvm::Function& function = *builder.GetInsertBlock()->getParent();
  llvm::AllocaInst* const slot = make_alloca(function, builder.getInt32Ty(), "expected");
  builder.CreateAlignedStore(expected, slot, llvm::Align(4));
  return call(builder, "cmpxchg.weak.i32", pointer, {slot, desired, builder.getInt32(0)});
}

template <class Compute>
Result<llvm::Value*> AtomicLowering::swap_loop(llvm::Instruction& at, llvm::Value* pointer, llvm::Type* type,
                                               llvm::Align align, Compute compute) {
  Builder builder(&at);
  const Word word = word_of(builder, pointer, type, align);
  SMELT_TRY(llvm::Value* const first, call(builder, "load.i32", word.pointer, {}));
  llvm::BasicBlock* const before = at.getParent();
  llvm::BasicBlock* const after = before->splitBasicBlock(&at, "swapped");
  llvm::BasicBlock* const loop = llvm::BasicBlock::Create(at.getContext(), "swap", before->getParent(), after);
  before->getTerminator()->setSuccessor(0, loop);
  builder.SetInsertPoint(loop);
  llvm::PHINode* const old = builder.CreatePHI(builder.getInt32Ty(), 2, "old");
  old->addIncoming(first, before);
  llvm::Value* const value = value_in(builder, word, old, type);
  llvm::Value* const desired = word_with(builder, word, old, compute(builder, value));
  SMELT_TRY(llvm::Value* const seen, compare_and_swap(builder, word.pointer, old, desired));
  old->addIncoming(seen, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpEQ(seen, old), after, loop);
  return value;
}

/// The operations that AIR has; `done` stays false for the others.
Result<llvm::Value*> AtomicLowering::direct(Builder& builder, llvm::AtomicRMWInst& rmw, bool& done) {
  llvm::Type* const type = rmw.getType();
  llvm::Value* const pointer = rmw.getPointerOperand();
  const Operation operation = rmw.getOperation();
  done = true;
  if (type->isIntegerTy(32) && !i32_operation(operation).empty())
    return call(builder, i32_operation(operation), pointer, {rmw.getValOperand()});
  if (type->isFloatTy() && operation == Operation::Xchg) {
    llvm::Value* const bits = builder.CreateBitCast(rmw.getValOperand(), builder.getInt32Ty());
    SMELT_TRY(llvm::Value* const old, call(builder, "xchg.i32", pointer, {bits}));
    return builder.CreateBitCast(old, type);
  }
  const bool adds = operation == Operation::FAdd || operation == Operation::FSub;
  if (type->isFloatTy() && adds && space_of(*pointer) == kDevice && context_.target.air >= Version{2, 5})
    return call(builder, operation == Operation::FAdd ? "add.f32" : "sub.f32", pointer, {rmw.getValOperand()});
  if (type->isIntegerTy(64)) {
    const bool is_max = operation == Operation::UMax;
    if (!rmw.use_empty() || space_of(*pointer) != kDevice || (!is_max && operation != Operation::UMin))
      return refuse(rmw, "Metal's 64-bit atomics are unsigned minimum and maximum of device memory, without a result");
    return call(builder, is_max ? "max.u.i64" : "min.u.i64", pointer, {rmw.getValOperand()});
  }
  done = false;
  return nullptr;
}

Result<void> AtomicLowering::lower(llvm::AtomicRMWInst& rmw) {
  if (space_of(*rmw.getPointerOperand()) == kThread) {
    llvm::lowerAtomicRMWInst(&rmw);
    return {};
  }
  SMELT_TRY_VOID(check_space(rmw, *rmw.getPointerOperand()));
  llvm::Type* const type = rmw.getType();
  const uint64_t bits = rmw.getModule()->getDataLayout().getTypeSizeInBits(type);
  if (type->isPointerTy() || type->isVectorTy() || (bits != 8 && bits != 16 && bits != 32 && bits != 64) ||
      type->isDoubleTy())
    return refuse(rmw, "no atomic operation on {}; there are 8 to 32 bits, and 64 for minimum and maximum",
                  text_of(*type));
  SMELT_TRY_VOID(fence_before(rmw, rmw.getOrdering(), rmw.getSyncScopeID()));
  SMELT_TRY_VOID(fence_after(rmw, rmw.getOrdering(), rmw.getSyncScopeID()));
  Builder builder(&rmw);
  bool done = false;
  SMELT_TRY(llvm::Value * result, direct(builder, rmw, done));
  if (!done) {
    SMELT_TRY(result, swap_loop(rmw, rmw.getPointerOperand(), type, rmw.getAlign(), [&](Builder& in, llvm::Value* old) {
                return llvm::buildAtomicRMWValue(rmw.getOperation(), in, old, rmw.getValOperand());
              }));
  }
  if (!rmw.use_empty()) rmw.replaceAllUsesWith(result);
  rmw.eraseFromParent();
  return {};
}

/// Its two results to those who take them apart; a pair for the rest.
void replace_pair(llvm::Instruction& old, llvm::Value* value, llvm::Value* success) {
  for (llvm::User* user : llvm::make_early_inc_range(old.users())) {
    auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(user);
    if (!part) continue;
    part->replaceAllUsesWith(part->getIndices()[0] == 0 ? value : success);
    part->eraseFromParent();
  }
  if (!old.use_empty()) {
    llvm::IRBuilder<> builder(&old);
    llvm::Value* pair = builder.CreateInsertValue(llvm::PoisonValue::get(old.getType()), value, 0);
    old.replaceAllUsesWith(builder.CreateInsertValue(pair, success, 1));
  }
  old.eraseFromParent();
}

Result<void> AtomicLowering::lower(llvm::AtomicCmpXchgInst& exchange) {
  llvm::Value* const pointer = exchange.getPointerOperand();
  if (space_of(*pointer) == kThread) {
    llvm::lowerAtomicCmpXchgInst(&exchange);
    return {};
  }
  SMELT_TRY_VOID(check_space(exchange, *pointer));
  llvm::Type* const type = exchange.getCompareOperand()->getType();
  if (!type->isIntegerTy(8) && !type->isIntegerTy(16) && !type->isIntegerTy(32))
    return refuse(exchange, "no compare-and-swap of {}; Metal has it for 32 bits", text_of(*type));
  const auto order = llvm::isStrongerThan(exchange.getSuccessOrdering(), exchange.getFailureOrdering())
                         ? exchange.getSuccessOrdering()
                         : exchange.getFailureOrdering();
  SMELT_TRY_VOID(fence_before(exchange, order, exchange.getSyncScopeID()));
  SMELT_TRY_VOID(fence_after(exchange, order, exchange.getSyncScopeID()));
  Builder builder(&exchange);
  if (type->isIntegerTy(32)) {
    SMELT_TRY(llvm::Value* const seen,
              compare_and_swap(builder, pointer, exchange.getCompareOperand(), exchange.getNewValOperand()));
    replace_pair(exchange, seen, builder.CreateICmpEQ(seen, exchange.getCompareOperand()));
    return {};
  }
  // Smaller ones: swap in the same value when the old one is another, which changes nothing.
  SMELT_TRY(llvm::Value* const old,
            swap_loop(exchange, pointer, type, exchange.getAlign(), [&](Builder& in, llvm::Value* value) {
              llvm::Value* const equal = in.CreateICmpEQ(value, exchange.getCompareOperand());
              return in.CreateSelect(equal, exchange.getNewValOperand(), value);
            }));
  builder.SetInsertPoint(&exchange);
  replace_pair(exchange, old, builder.CreateICmpEQ(old, exchange.getCompareOperand()));
  return {};
}

Result<void> AtomicLowering::lower(llvm::LoadInst& load) {
  llvm::Value* const pointer = load.getPointerOperand();
  if (space_of(*pointer) == kThread || space_of(*pointer) == kConstant) {
    load.setAtomic(llvm::AtomicOrdering::NotAtomic);
    return {};
  }
  llvm::Type* const type = load.getType();
  const uint64_t bits = load.getModule()->getDataLayout().getTypeSizeInBits(type);
  if (type->isPointerTy() || (bits != 8 && bits != 16 && bits != 32))
    return refuse(load, "no atomic load of {}; Metal has it for 32 bits", text_of(*type));
  SMELT_TRY_VOID(fence_after(load, load.getOrdering(), load.getSyncScopeID()));
  Builder builder(&load);
  const Word word = word_of(builder, pointer, type, load.getAlign());
  SMELT_TRY(llvm::Value* const seen, call(builder, "load.i32", word.pointer, {}));
  load.replaceAllUsesWith(value_in(builder, word, seen, type));
  load.eraseFromParent();
  return {};
}

Result<void> AtomicLowering::lower(llvm::StoreInst& store) {
  llvm::Value* const pointer = store.getPointerOperand();
  if (space_of(*pointer) == kThread) {
    store.setAtomic(llvm::AtomicOrdering::NotAtomic);
    return {};
  }
  SMELT_TRY_VOID(check_space(store, *pointer));
  llvm::Value* const value = store.getValueOperand();
  llvm::Type* const type = value->getType();
  const uint64_t bits = store.getModule()->getDataLayout().getTypeSizeInBits(type);
  if (type->isPointerTy() || (bits != 8 && bits != 16 && bits != 32))
    return refuse(store, "no atomic store of {}; Metal has it for 32 bits", text_of(*type));
  SMELT_TRY_VOID(fence_before(store, store.getOrdering(), store.getSyncScopeID()));
  if (store.getOrdering() == llvm::AtomicOrdering::SequentiallyConsistent)
    SMELT_TRY_VOID(fence_after(store, store.getOrdering(), store.getSyncScopeID()));
  Builder builder(&store);
  if (bits == 32) {
    SMELT_TRY_VOID(call(builder, "store.i32", pointer, {builder.CreateBitCast(value, builder.getInt32Ty())}));
  } else {
    SMELT_TRY_VOID(swap_loop(store, pointer, type, store.getAlign(), [&](Builder&, llvm::Value*) { return value; }));
  }
  store.eraseFromParent();
  return {};
}

/// An atomic access of LLVM's.
bool is_plain_atomic(const llvm::Instruction& instruction) {
  return instruction.isAtomic() && !llvm::isa<llvm::FenceInst>(instruction);
}

bool is_atomic(const llvm::Instruction& instruction) {
  if (is_plain_atomic(instruction)) return true;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName().starts_with("air.atomic.");
}

/// Somebody could tell whether an order was kept.
bool orders_can_be_seen(llvm::Module& module) {
  for (const llvm::Instruction* instruction : instructions_of(module)) {
    if (is_atomic(*instruction) && !instruction->use_empty()) return true;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction))
      if (load->isVolatile() && load->getPointerAddressSpace() != kThread) return true;
  }
  return false;
}

}  // namespace

Result<void> atomics(PassContext& context) {
  AtomicLowering lowering(context, orders_can_be_seen(context.module));
  // Lowering one takes away instructions that use it, so only what will be lowered is remembered.
  std::vector<llvm::Instruction*> found;
  for (llvm::Instruction* instruction : instructions_of(context.module))
    if (is_plain_atomic(*instruction)) found.push_back(instruction);
  for (llvm::Instruction* instruction : found) {
    if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(instruction)) {
      SMELT_TRY_VOID(lowering.lower(*rmw));
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(instruction)) {
      SMELT_TRY_VOID(lowering.lower(*exchange));
    } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
      SMELT_TRY_VOID(lowering.lower(*load));
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction)) {
      SMELT_TRY_VOID(lowering.lower(*store));
    }
  }
  return {};
}

}  // namespace smelt::aot::air
