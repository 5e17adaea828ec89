// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every pointer gets a shadow: the object that it was made from, as (start, bytes, identity). Shadows follow address
// arithmetic, casts, selects and phis. An access then asks: offset <= bytes and size <= bytes - offset, unsigned, which
// catches negative offsets too.
#include "cpu/work_item/checked.hpp"

#include "smelt/schema/cpu_abi.h"

#include "cpu/dispatch_block.hpp"
#include "cpu/lower/collectives.hpp"
#include "cpu/work_item/fault.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <algorithm>
#include <map>
#include <optional>

namespace smelt::aot::cpu {
namespace {

struct Shadow {
  llvm::Value* start = nullptr;   ///< i64 address
  llvm::Value* bytes = nullptr;   ///< i64; all ones: no bound is known
  llvm::Value* object = nullptr;  ///< i32
};

class AccessGuard {
 public:
  /// Of a helper: its parameters are values and private memory.
  AccessGuard(llvm::Function& helper, llvm::Value* dispatch)
      : function_(helper),
        context_(helper.getContext()),
        data_layout_(helper.getParent()->getDataLayout()),
        i32_(llvm::Type::getInt32Ty(context_)),
        i64_(llvm::Type::getInt64Ty(context_)),
        dispatch_(dispatch) {}

  AccessGuard(const WorkItem& item, llvm::ArrayRef<ThreadgroupObject> objects) : AccessGuard(*item.function, nullptr) {
    item_ = &item;
    objects_ = objects;
    for (size_t i = 0; i < item.parameters.size(); ++i) {
      llvm::Argument* argument = function_.getArg(static_cast<unsigned>(i));
      const WorkParameter& parameter = item.parameters[i];
      if (parameter.kind == WorkParameter::Kind::dispatch) dispatch_ = argument;
      if (parameter.kind == WorkParameter::Kind::threadgroup_memory) threadgroup_memory_ = argument;
      if (parameter.kind == WorkParameter::Kind::builtin && parameter.builtin == Builtin::thread_position_in_grid)
        position_[parameter.component] = argument;
    }
  }

  void run() {
    llvm::SmallVector<llvm::Instruction*> accesses;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (is_access(instruction)) accesses.push_back(&instruction);
    for (llvm::Instruction* access : accesses) {
      if (auto* memory = llvm::dyn_cast<llvm::AnyMemIntrinsic>(access))
        guard_memory(*memory);
      else if (llvm::isa<llvm::CallInst>(access))
        guard_matrix(llvm::cast<llvm::CallInst>(*access));
      else
        guard_plain(*access);
    }
  }

 private:
  bool is_access(const llvm::Instruction& instruction) const {
    if (llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst, llvm::AnyMemIntrinsic>(
            instruction))
      return true;
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call == nullptr || call->getCalledFunction() == nullptr) return false;
    const auto collective = parse_collective(call->getCalledFunction()->getName());
    return collective &&
           (collective->kind == CollectiveKind::matrix_load || collective->kind == CollectiveKind::matrix_store);
  }

  // ---- shadows ----

  llvm::Instruction& entry_point() { return *function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca(); }

  Shadow unbounded() {
    return {llvm::ConstantInt::get(i64_, 0), llvm::ConstantInt::get(i64_, ~uint64_t{0}),
            llvm::ConstantInt::get(i32_, 0)};
  }

  bool is_unbounded(const Shadow& shadow) const {
    const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(shadow.bytes);
    return bytes != nullptr && bytes->isMinusOne();
  }

  const Shadow& shadow_of(llvm::Value* pointer) {
    const auto known = shadows_.find(pointer);
    if (known != shadows_.end()) return known->second;
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer)) return shadow_of_phi(*phi);
    const Shadow made = make_shadow(pointer);
    return shadows_[pointer] = made;
  }

  Shadow make_shadow(llvm::Value* pointer) {
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(pointer)) return shadow_of_argument(*argument);
    if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(pointer))
      return {llvm::ConstantExpr::getPtrToInt(global, i64_),
              llvm::ConstantInt::get(i64_, data_layout_.getTypeAllocSize(global->getValueType())),
              llvm::ConstantInt::get(i32_, SMELT_CPU_FAULT_CONSTANT_TABLE)};
    if (auto* gep = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      if (gep->getPointerOperand() == threadgroup_memory_) return shadow_of_threadgroup(*gep);
      return shadow_of(gep->getPointerOperand());
    }
    if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(pointer)) return shadow_of(cast->getPointerOperand());
    if (auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(pointer)) return shadow_of(freeze->getOperand(0));
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(pointer)) {
      const Shadow yes = shadow_of(select->getTrueValue());
      const Shadow no = shadow_of(select->getFalseValue());
      if (is_unbounded(yes) && is_unbounded(no)) return yes;
      llvm::IRBuilder<> builder(select);
      const auto choose = [&](llvm::Value* a, llvm::Value* b) {
        return builder.CreateSelect(select->getCondition(), a, b);
      };
      return {choose(yes.start, no.start), choose(yes.bytes, no.bytes), choose(yes.object, no.object)};
    }
    return unbounded();  // private memory, and pointers that were read from memory
  }

  Shadow shadow_of_argument(llvm::Argument& argument) {
    if (item_ == nullptr) return unbounded();
    const WorkParameter& parameter = item_->parameters[argument.getArgNo()];
    llvm::IRBuilder<> builder(&entry_point());
    const auto length = [&](uint64_t field, llvm::Type* type) {
      llvm::Value* table = load_constant(builder, builder.getPtrTy(), dispatch_, field);
      llvm::Value* bytes = load_constant(builder, type, table, parameter.index * data_layout_.getTypeAllocSize(type));
      return builder.CreateZExt(bytes, i64_);
    };
    switch (parameter.kind) {
      case WorkParameter::Kind::buffer:
        return {builder.CreatePtrToInt(&argument, i64_), length(offsetof(smelt_cpu_dispatch, buffer_bytes), i64_),
                builder.getInt32(parameter.index)};
      case WorkParameter::Kind::threadgroup_argument:
        return {builder.CreatePtrToInt(&argument, i64_), length(offsetof(smelt_cpu_dispatch, threadgroup_bytes), i32_),
                builder.getInt32(SMELT_CPU_FAULT_THREADGROUP_ARGUMENT + parameter.index)};
      case WorkParameter::Kind::threadgroup_memory:
        return threadgroup_object(0);
      default:
        return unbounded();
    }
  }

  Shadow threadgroup_object(uint64_t offset) {
    const auto object = std::find_if(objects_.begin(), objects_.end(), [&](const ThreadgroupObject& candidate) {
      return offset >= candidate.offset && offset - candidate.offset < std::max<uint64_t>(candidate.bytes, 1);
    });
    llvm::IRBuilder<> builder(&entry_point());
    llvm::Value* start = builder.CreatePtrToInt(threadgroup_memory_, i64_);
    const uint64_t at = object != objects_.end() ? object->offset : 0;
    const uint64_t bytes = object != objects_.end() ? object->bytes : 0;
    return {builder.CreateAdd(start, builder.getInt64(at)), builder.getInt64(bytes),
            builder.getInt32(SMELT_CPU_FAULT_STATIC_THREADGROUP)};
  }

  Shadow shadow_of_threadgroup(llvm::GEPOperator& gep) {
    llvm::APInt offset(64, 0);
    // Only the variable's own address is a constant step from the start; the simplifier has not run yet.
    return threadgroup_object(gep.accumulateConstantOffset(data_layout_, offset) ? offset.getZExtValue() : 0);
  }

  const Shadow& shadow_of_phi(llvm::PHINode& phi) {
    llvm::IRBuilder<> builder(&phi);
    const unsigned count = phi.getNumIncomingValues();
    llvm::PHINode* start = builder.CreatePHI(i64_, count);
    llvm::PHINode* bytes = builder.CreatePHI(i64_, count);
    llvm::PHINode* object = builder.CreatePHI(i32_, count);
    shadows_[&phi] = {start, bytes, object};  // before its operands: loops come back here
    for (unsigned i = 0; i < count; ++i) {
      const Shadow from = shadow_of(phi.getIncomingValue(i));
      start->addIncoming(from.start, phi.getIncomingBlock(i));
      bytes->addIncoming(from.bytes, phi.getIncomingBlock(i));
      object->addIncoming(from.object, phi.getIncomingBlock(i));
    }
    return shadows_[&phi];
  }

  // ---- guards ----

  /// A condition that holds when [pointer, pointer + bytes) lies in its object; nothing when there is no bound.
  llvm::Value* inside(llvm::IRBuilder<>& builder, llvm::Value* pointer, llvm::Value* bytes, llvm::Value*& offset) {
    const Shadow shadow = shadow_of(pointer);
    if (is_unbounded(shadow)) return nullptr;
    offset = builder.CreateSub(builder.CreatePtrToInt(pointer, i64_), shadow.start);
    return builder.CreateAnd(builder.CreateICmpULE(offset, shadow.bytes),
                             builder.CreateICmpULE(bytes, builder.CreateSub(shadow.bytes, offset)));
  }

  /// Leaves `access` in a block that runs only when `ok`; else the fault is reported. The access's users see zero then.
  void branch_around(llvm::Instruction& access, llvm::Value* ok, llvm::Value* pointer, llvm::Value* offset,
                     llvm::Value* bytes, bool is_write) {
    llvm::Instruction* then = nullptr;
    llvm::Instruction* otherwise = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(ok, &access, &then, &otherwise);
    llvm::BasicBlock* after = access.getParent();
    access.moveBefore(then);
    llvm::IRBuilder<> report(otherwise);
    report_fault(report, dispatch_,
                 {.object = shadow_of(pointer).object,
                  .offset = offset,
                  .bytes = bytes,
                  .position = position_,
                  .is_write = is_write});
    if (access.getType()->isVoidTy() || access.use_empty()) return;
    llvm::IRBuilder<> join(&after->front());
    llvm::PHINode* value = join.CreatePHI(access.getType(), 2);
    access.replaceAllUsesWith(value);
    value->addIncoming(&access, then->getParent());
    value->addIncoming(llvm::Constant::getNullValue(access.getType()), otherwise->getParent());
  }

  void guard(llvm::Instruction& access, llvm::Value* pointer, llvm::Value* bytes, bool is_write) {
    llvm::IRBuilder<> builder(&access);
    llvm::Value* offset = nullptr;
    if (llvm::Value* ok = inside(builder, pointer, bytes, offset))
      branch_around(access, ok, pointer, offset, bytes, is_write);
  }

  void guard_plain(llvm::Instruction& access) {
    llvm::Value* pointer = nullptr;
    llvm::Type* type = access.getType();
    bool is_write = true;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access)) {
      if (load->hasMetadata(llvm::LLVMContext::MD_invariant_load)) return;
      pointer = load->getPointerOperand();
      is_write = false;
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&access)) {
      pointer = store->getPointerOperand();
      type = store->getValueOperand()->getType();
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&access)) {
      pointer = exchange->getPointerOperand();
      type = exchange->getCompareOperand()->getType();
    } else {
      pointer = llvm::cast<llvm::AtomicRMWInst>(access).getPointerOperand();
    }
    guard(access, pointer, llvm::ConstantInt::get(i64_, data_layout_.getTypeStoreSize(type)), is_write);
  }

  void guard_memory(llvm::AnyMemIntrinsic& memory) {
    llvm::IRBuilder<> builder(&memory);
    llvm::Value* bytes = builder.CreateZExtOrTrunc(memory.getLength(), i64_);
    guard(memory, memory.getDest(), bytes, true);
    if (auto* transfer = llvm::dyn_cast<llvm::AnyMemTransferInst>(&memory))
      guard(memory, transfer->getSource(), bytes, false);
  }

  /// The 8x8 elements from the first to the last, whatever the order of rows.
  void guard_matrix(llvm::CallInst& call) {
    const auto collective = parse_collective(call.getCalledFunction()->getName());
    const bool is_write = collective->kind == CollectiveKind::matrix_store;
    const unsigned first = is_write ? 1 : 0;
    if (call.arg_size() < first + 4) return;
    llvm::IRBuilder<> builder(&call);
    llvm::Value* second = call.getArgOperand(first + 1);
    llvm::Value* row = nullptr;  // elements from one row to the next
    llvm::Value* column = builder.getInt64(1);
    llvm::Value* origin = call.getArgOperand(first + 2);
    if (second->getType()->isVectorTy()) {  // (p, dims, strides, origin)
      llvm::Value* strides = call.getArgOperand(first + 2);
      column = builder.CreateExtractElement(strides, uint64_t{0});
      row = builder.CreateExtractElement(strides, uint64_t{1});
      origin = call.getArgOperand(first + 3);
    } else {
      row = builder.CreateZExtOrTrunc(second, i64_);
    }
    const uint64_t size = collective->element.bits / 8;
    const auto bytes_of = [&](llvm::Value* elements) { return builder.CreateMul(elements, builder.getInt64(size)); };
    llvm::Value* skip = builder.CreateAdd(builder.CreateMul(builder.CreateExtractElement(origin, uint64_t{0}), column),
                                          builder.CreateMul(builder.CreateExtractElement(origin, uint64_t{1}), row));
    llvm::Value* pointer = call.getArgOperand(first);
    llvm::Value* start = builder.CreateGEP(builder.getInt8Ty(), pointer, bytes_of(skip));
    llvm::Value* last = builder.CreateMul(builder.CreateAdd(row, column), builder.getInt64(7));
    guard(call, start, bytes_of(builder.CreateAdd(last, builder.getInt64(1))), is_write);
  }

  const WorkItem* item_ = nullptr;  ///< null for a helper
  llvm::ArrayRef<ThreadgroupObject> objects_;
  llvm::Function& function_;
  llvm::LLVMContext& context_;
  const llvm::DataLayout& data_layout_;
  llvm::Type* i32_;
  llvm::Type* i64_;
  llvm::Value* dispatch_ = nullptr;
  llvm::Value* threadgroup_memory_ = nullptr;
  std::array<llvm::Value*, 3> position_{};
  std::map<llvm::Value*, Shadow> shadows_;
};

}  // namespace

void check_accesses(const WorkItem& item, const std::vector<ThreadgroupObject>& threadgroup_objects) {
  AccessGuard(item, threadgroup_objects).run();
}

void check_accesses(llvm::Function& helper, llvm::Value& dispatch) {
  AccessGuard(helper, &dispatch).run();
}

}  // namespace smelt::aot::cpu
