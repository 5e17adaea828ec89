#include "cpu/private_buffers.hpp"

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

std::optional<Operation> only_operation(const llvm::Value& buffer) {
  std::optional<Operation> found;
  std::vector<const llvm::Value*> work{&buffer};
  std::set<const llvm::Value*> seen{&buffer};
  while (!work.empty()) {
    const llvm::Value* pointer = work.back();
    work.pop_back();
    for (const llvm::Use& use : pointer->uses()) {
      const llvm::User* user = use.getUser();
      if (llvm::isa<llvm::GetElementPtrInst>(user) && use.getOperandNo() == 0) {
        if (seen.insert(user).second) work.push_back(user);
        continue;
      }
      const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(user);
      if (atomic == nullptr || !atomic->use_empty() || use.getOperandNo() != 0) return std::nullopt;
      const std::optional<Operation> operation = operation_of(*atomic);
      if (!operation || (found && *found != *operation)) return std::nullopt;
      found = operation;
    }
  }
  return found;
}

}  // namespace

std::vector<schema::CpuPrivateBuffer> find_private_buffers(const WorkItem& item) {
  std::vector<schema::CpuPrivateBuffer> result;
  for (size_t i = 0; i < item.parameters.size(); ++i) {
    if (item.parameters[i].kind != WorkParameter::Kind::buffer) continue;
    const uint32_t index = item.parameters[i].index;
    // Two arguments at one slot (chosen by a function constant) reach the same memory: leave those alone.
    size_t same = 0;
    for (const WorkParameter& other : item.parameters)
      same += other.kind == WorkParameter::Kind::buffer && other.index == index;
    if (same != 1) continue;
    if (const auto operation = only_operation(*item.function->getArg(static_cast<unsigned>(i))))
      result.push_back({index, *operation});
  }
  return result;
}

}  // namespace smelt::aot::cpu
