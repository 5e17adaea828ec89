// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "legalise/sampler_handles.hpp"

#include "legalise/support.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

namespace smelt::aot::air {
namespace {

constexpr uint64_t kStateMark = uint64_t{1} << 63;
constexpr unsigned kMostSteps = 32;

llvm::PointerType* handle_type(const llvm::Value& bits) {
  return llvm::PointerType::get(bits.getContext(), kConstant);
}

/// What memory of the thread, or of the program, holds.
struct Held {
  llvm::SmallVector<uint64_t, 8> states;
  llvm::SmallVector<llvm::StoreInst*, 8> stores;  // of states, and of handles as their bits
  bool has_handles = false;
  bool is_copied_from_table = false;
  bool is_unknown = false;

  void add(uint64_t state) {
    if (!llvm::is_contained(states, state)) states.push_back(state);
  }
};

void collect_states(const llvm::Constant& table, Held& held) {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&table)) {
    if (number->getBitWidth() == 64 && (number->getZExtValue() & kStateMark) != 0) held.add(number->getZExtValue());
    return;
  }
  if (const auto* data = llvm::dyn_cast<llvm::ConstantDataSequential>(&table)) {
    for (unsigned i = 0; i < data->getNumElements(); ++i) collect_states(*data->getElementAsConstant(i), held);
    return;
  }
  for (const llvm::Use& part : table.operands())
    if (const auto* inside = llvm::dyn_cast<llvm::Constant>(part)) collect_states(*inside, held);
}

/// The bits of a handle from memory that is not the thread's own.
bool is_handle_load(const llvm::Value& value) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&value);
  if (load == nullptr || !load->getType()->isIntegerTy(64)) return false;
  const llvm::Value* memory = llvm::getUnderlyingObject(load->getPointerOperand(), 0);
  return llvm::isa<llvm::Argument>(memory) || llvm::isa<llvm::LoadInst>(memory);
}

void collect_uses(llvm::Value& address, Held& held, unsigned depth = 0) {
  if (depth > kMostSteps) held.is_unknown = true;
  if (held.is_unknown) return;
  for (llvm::User* user : address.users()) {
    if (llvm::isa<llvm::LoadInst>(user)) continue;
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      if (store->getValueOperand() == &address) {
        held.is_unknown = true;
        continue;
      }
      const auto* number = llvm::dyn_cast<llvm::ConstantInt>(store->getValueOperand());
      if (number != nullptr && number->getBitWidth() == 64 && (number->getZExtValue() & kStateMark) != 0) {
        held.add(number->getZExtValue());
        held.stores.push_back(store);
      } else if (is_handle_load(*store->getValueOperand())) {
        held.has_handles = true;
        held.stores.push_back(store);
      } else if (store->getValueOperand()->getType()->isPointerTy() ||
                 llvm::isa<llvm::PtrToIntInst>(store->getValueOperand())) {
        held.has_handles = true;
      } else if (store->getValueOperand()->getType()->isIntegerTy(64) &&
                 !llvm::isa<llvm::Constant>(store->getValueOperand())) {
        held.is_unknown = true;
      }
      continue;
    }
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(user)) {
      if (copy->getRawDest() != &address) continue;
      const auto* from = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(copy->getRawSource()));
      if (from != nullptr && from->isConstant() && from->hasInitializer()) {
        held.is_copied_from_table = true;
        collect_states(*from->getInitializer(), held);
      } else {
        held.has_handles = true;
      }
      continue;
    }
    if (llvm::isa<llvm::GetElementPtrInst>(user) || llvm::isa<llvm::BitCastInst>(user) ||
        llvm::isa<llvm::AddrSpaceCastInst>(user))
      collect_uses(*user, held, depth + 1);
    else if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(user);
             intrinsic == nullptr || (!intrinsic->isLifetimeStartOrEnd() && !llvm::isa<llvm::MemSetInst>(intrinsic)))
      held.is_unknown = true;
  }
}

}  // namespace

Result<llvm::Value*> SamplerHandles::of(const llvm::CallInst& call) {
  call_ = &call;
  return handle(call.getArgOperand(0));
}

Result<llvm::Value*> SamplerHandles::handle(llvm::Value* bits) {
  if (const auto known = known_.find(bits); known != known_.end()) return known->second;
  const auto keep = [&](llvm::Value* made) { return known_[bits] = made; };
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(bits)) {
    if (!number->isZero()) return constant_(number->getZExtValue());
    return llvm::ConstantPointerNull::get(handle_type(*bits));  // never set
  }
  if (llvm::isa<llvm::UndefValue>(bits)) return llvm::ConstantPointerNull::get(handle_type(*bits));
  if (auto* cast = llvm::dyn_cast<llvm::PtrToIntOperator>(bits))
    if (cast->getPointerAddressSpace() == kConstant) return keep(cast->getPointerOperand());
  if (auto* frozen = llvm::dyn_cast<llvm::FreezeInst>(bits)) return handle(frozen->getOperand(0));
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(bits)) {
    SMELT_TRY(llvm::Value * yes, handle(select->getTrueValue()));
    SMELT_TRY(llvm::Value * no, handle(select->getFalseValue()));
    return keep(llvm::IRBuilder<>(select).CreateSelect(select->getCondition(), yes, no));
  }
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(bits)) return of_phi(*phi);
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(bits)) {
    SMELT_TRY(llvm::Value * made, of_load(*load));
    return keep(made);
  }
  return refuse(*call_,
                "a sampler must be an argument, a member of an argument buffer or constexpr; this one is made "
                "of numbers");
}

Result<llvm::Value*> SamplerHandles::of_phi(llvm::PHINode& phi) {
  llvm::PHINode* made = llvm::IRBuilder<>(&phi).CreatePHI(handle_type(phi), phi.getNumIncomingValues());
  known_[&phi] = made;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    SMELT_TRY(llvm::Value * one, handle(phi.getIncomingValue(i)));
    made->addIncoming(one, phi.getIncomingBlock(i));
  }
  return made;
}

Result<llvm::Value*> SamplerHandles::load_handle(llvm::LoadInst& load) {
  llvm::LoadInst* made =
      llvm::IRBuilder<>(&load).CreateAlignedLoad(handle_type(load), load.getPointerOperand(), load.getAlign());
  made->copyMetadata(load, {llvm::LLVMContext::MD_alias_scope, llvm::LLVMContext::MD_noalias});
  return made;
}

Result<llvm::Value*> SamplerHandles::choose(llvm::LoadInst& load, llvm::ArrayRef<uint64_t> states) {
  llvm::IRBuilder<> builder(load.getNextNode());
  llvm::Value* chosen = constant_(states.front());
  for (const uint64_t state : states.drop_front())
    chosen = builder.CreateSelect(builder.CreateICmpEQ(&load, builder.getInt64(state)), constant_(state), chosen);
  return chosen;
}

Result<llvm::Value*> SamplerHandles::of_load(llvm::LoadInst& load) {
  llvm::Value* const memory = llvm::getUnderlyingObject(load.getPointerOperand(), 0);
  Held held;
  if (const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(memory)) {
    if (table->isConstant() && table->hasInitializer()) collect_states(*table->getInitializer(), held);
    if (!held.states.empty()) return choose(load, held.states);
    return refuse(*call_, "a sampler must be an argument, a member of an argument buffer or constexpr");
  }
  if (!llvm::isa<llvm::AllocaInst>(memory)) return load_handle(load);
  collect_uses(*memory, held);
  const bool is_mixed = held.has_handles && !held.states.empty();
  if (held.is_unknown || (is_mixed && held.is_copied_from_table))
    return refuse(*call_,
                  "a sampler must be an argument, a member of an argument buffer or constexpr; this one shares a "
                  "variable with others");
  if (!held.has_handles && !held.states.empty()) return choose(load, held.states);
  for (llvm::StoreInst* store : held.stores) {
    llvm::Value* const bits = store->getValueOperand();
    SMELT_TRY(llvm::Value * stored, handle(bits));
    llvm::IRBuilder<>(store).CreateAlignedStore(stored, store->getPointerOperand(), store->getAlign());
    store->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(bits);
  }
  return load_handle(load);
}

}  // namespace smelt::aot::air
