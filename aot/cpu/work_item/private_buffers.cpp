// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/private_buffers.hpp"

#include "abi/dispatch_block.hpp"

#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <optional>
#include <set>

namespace smelt::aot::cpu {
namespace {

using Operation = schema::CpuPrivateBuffer::Operation;

std::optional<Operation> operation_of(const llvm::AtomicRMWInst& atomic) {
  const llvm::Type* type = atomic.getValOperand()->getType();
  if (!type->isIntegerTy(32) && !type->isFloatTy()) return std::nullopt;
  switch (atomic.getOperation()) {
    case llvm::AtomicRMWInst::Add:
    case llvm::AtomicRMWInst::Sub:  // starts from zero, merges by addition
      return Operation::add_i32;
    case llvm::AtomicRMWInst::FAdd:
    case llvm::AtomicRMWInst::FSub:
      return Operation::add_f32;
    case llvm::AtomicRMWInst::Min:
      return Operation::min_s32;
    case llvm::AtomicRMWInst::Max:
      return Operation::max_s32;
    case llvm::AtomicRMWInst::UMin:
      return Operation::min_u32;
    case llvm::AtomicRMWInst::UMax:
      return Operation::max_u32;
    case llvm::AtomicRMWInst::And:
      return Operation::and_i32;
    case llvm::AtomicRMWInst::Or:
      return Operation::or_i32;
    case llvm::AtomicRMWInst::Xor:
      return Operation::xor_i32;
    default:
      return std::nullopt;
  }
}

struct Accesses {
  Operation operation;
  std::vector<llvm::AtomicRMWInst*> atomics;
};

/// All that is done to `buffer`, if that is atomics of one kind only.
std::optional<Accesses> only_atomics(llvm::Value& buffer) {
  std::optional<Accesses> found;
  std::vector<llvm::Value*> work{&buffer};
  std::set<const llvm::Value*> seen{&buffer};
  while (!work.empty()) {
    llvm::Value* pointer = work.back();
    work.pop_back();
    for (llvm::Use& use : pointer->uses()) {
      llvm::User* user = use.getUser();
      if (llvm::isa<llvm::GetElementPtrInst>(user) && use.getOperandNo() == 0) {
        if (seen.insert(user).second) work.push_back(user);
        continue;
      }
      auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(user);
      if (atomic == nullptr || !atomic->use_empty() || use.getOperandNo() != 0) return std::nullopt;
      const std::optional<Operation> operation = operation_of(*atomic);
      if (!operation || (found && found->operation != *operation)) return std::nullopt;
      if (!found) found = Accesses{*operation, {}};
      found->atomics.push_back(atomic);
    }
  }
  return found;
}

void add_private_form(llvm::AtomicRMWInst& atomic, llvm::Value* dispatch, uint32_t buffer) {
  llvm::IRBuilder<> builder(&atomic);
  llvm::Value* copies = SMELT_DISPATCH_FIELD(builder, builder.getInt32Ty(), dispatch, private_buffers);
  llvm::Value* is_private = builder.CreateICmpNE(builder.CreateAnd(copies, uint32_t{1} << buffer), builder.getInt32(0));
  llvm::Instruction* own = nullptr;
  llvm::Instruction* shared = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(is_private, &atomic, &own, &shared);
  auto* plain = llvm::cast<llvm::AtomicRMWInst>(atomic.clone());
  plain->setSyncScopeID(llvm::SyncScope::SingleThread);
  plain->insertBefore(own);
  atomic.moveBefore(shared);
}

llvm::Value* dispatch_of(const WorkItem& item) {
  for (size_t i = 0; i < item.parameters.size(); ++i)
    if (item.parameters[i].kind == WorkParameter::Kind::dispatch)
      return item.function->getArg(static_cast<unsigned>(i));
  return nullptr;
}

}  // namespace

std::vector<schema::CpuPrivateBuffer> split_private_atomics(const WorkItem& item) {
  std::vector<schema::CpuPrivateBuffer> result;
  // A bound tensor may lie in the same memory, and the loader sees the record of it alone.
  for (const WorkParameter& parameter : item.parameters)
    if (parameter.is_bound(BindingClass::tensor)) return result;
  for (size_t i = 0; i < item.parameters.size(); ++i) {
    if (!item.parameters[i].is_bound(BindingClass::buffer)) continue;
    const uint32_t index = item.parameters[i].index;
    // Two arguments at one slot (chosen by a function constant) reach the same memory: leave those alone.
    size_t same = 0;
    for (const WorkParameter& other : item.parameters)
      same += other.is_bound(BindingClass::buffer) && other.index == index;
    if (same != 1) continue;
    const auto accesses = only_atomics(*item.function->getArg(static_cast<unsigned>(i)));
    if (!accesses) continue;
    result.push_back({index, accesses->operation});
    for (llvm::AtomicRMWInst* atomic : accesses->atomics) add_private_form(*atomic, dispatch_of(item), index);
  }
  return result;
}

}  // namespace smelt::aot::cpu
