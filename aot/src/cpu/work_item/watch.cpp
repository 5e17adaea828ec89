// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cpu/work_item/watch.hpp"

#include "cpu/dispatch_block.hpp"
#include "cpu/lower/collectives.hpp"
#include "cpu/runtime/runtime.hpp"
#include "cpu/work_item/defined.hpp"
#include "cpu/work_item/make_work_item.hpp"
#include "cpu/work_item/texel_access.hpp"
#include "cpu/work_item/watch_calls.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::cpu {
namespace {

class ThreadWatcher {
 public:
  ThreadWatcher(const WorkItem& item, Checks checks, const std::vector<ThreadgroupObject>& objects)
      : item_(item),
        function_(*item.function),
        module_(*item.function->getParent()),
        layout_(module_.getDataLayout()),
        checks_(checks),
        objects_(objects),
        void_(llvm::Type::getVoidTy(module_.getContext())),
        i32_(llvm::Type::getInt32Ty(module_.getContext())),
        i64_(llvm::Type::getInt64Ty(module_.getContext())),
        pointer_(llvm::PointerType::get(module_.getContext(), 0)) {
    for (size_t i = 0; i < item.parameters.size(); ++i) {
      const WorkParameter& parameter = item.parameters[i];
      llvm::Argument* argument = function_.getArg(static_cast<unsigned>(i));
      if (parameter.kind == WorkParameter::Kind::dispatch) dispatch_ = argument;
      if (parameter.kind == WorkParameter::Kind::threadgroup_memory) threadgroup_memory_ = argument;
    }
  }

  void run() {
    std::vector<llvm::Instruction*> all;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (instruction.mayReadOrWriteMemory() || llvm::isa<llvm::CallInst>(instruction)) all.push_back(&instruction);
    if (all.empty()) return;
    thread_ = linear_position(item_);
    has_fences_ = llvm::any_of(all, [](const llvm::Instruction* one) { return llvm::isa<llvm::FenceInst>(one); });
    for (llvm::Instruction* instruction : all) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(instruction))
        watch_call(*call);
      else
        watch_plain(*instruction);
    }
  }

 private:
  /// Memory that no other thread can know of, or that nobody writes.
  bool is_shared(const llvm::Value* pointer) const {
    llvm::SmallVector<const llvm::Value*> origins;
    llvm::getUnderlyingObjects(pointer, origins, nullptr, 0);
    return !llvm::all_of(origins, [&](const llvm::Value* origin) {
      const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(origin);
      return llvm::isa<llvm::AllocaInst, llvm::ConstantPointerNull>(origin) || origin == dispatch_ ||
             reads_dispatch(origin, dispatch_) || (global != nullptr && global->isConstant());
    });
  }

  /// Where it stands, and which threadgroup variable it is about.
  llvm::Value* place(const llvm::Instruction& instruction, const llvm::Value* memory) {
    std::string text = place_of(instruction);
    if (const ThreadgroupObject* object = memory != nullptr ? object_of(memory) : nullptr)
      text += "|" + object->name + "@" + std::to_string(object->offset);
    return place_text(module_, text);
  }

  const ThreadgroupObject* object_of(const llvm::Value* pointer) const {
    // The constant offset at which a variable of the program begins is the innermost one.
    llvm::APInt offset(64, 0);
    while (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      pointer = gep->getPointerOperand();
      if (pointer == threadgroup_memory_ && !gep->accumulateConstantOffset(layout_, offset)) offset = 0;
    }
    if (pointer != threadgroup_memory_) return nullptr;
    for (const ThreadgroupObject& object : objects_)
      if (offset.uge(object.offset) && offset.ult(object.offset + std::max<uint64_t>(object.bytes, 1))) return &object;
    return nullptr;
  }

  llvm::Function* access_helper() {
    return watch_function(module_, "smelt.watch.access", offsetof(smelt_cpu_watch, access), void_,
                          {i64_, pointer_, i64_, i32_, pointer_});
  }

  void tell_access(llvm::Instruction& before, llvm::Value* pointer, llvm::Value* bytes, uint32_t flags) {
    if (!checks_.has(Check::races) || !is_shared(pointer)) return;
    llvm::IRBuilder<> builder(&before);
    builder.CreateCall(access_helper(), {dispatch_, thread_, builder.CreateAddrSpaceCast(pointer, pointer_), bytes,
                                         builder.getInt32(flags), place(before, pointer)});
  }

  void tell_meeting(llvm::Instruction& call, uint32_t flags) {
    constexpr uint32_t kMemory = SMELT_CPU_BARRIER_DEVICE | SMELT_CPU_BARRIER_THREADGROUP | SMELT_CPU_FENCE;
    if (!checks_.has(Check::sync) && (!checks_.has(Check::races) || (flags & kMemory) == 0)) return;
    if (checks_.has(Check::sync) && flags != SMELT_CPU_FENCE) flags |= SMELT_CPU_MEET_IS_CHECKED;
    llvm::IRBuilder<> builder(&call);
    llvm::Function* helper =
        watch_function(module_, "smelt.watch.meet", offsetof(smelt_cpu_watch, meet), void_, {i64_, i32_, pointer_});
    builder.CreateCall(helper, {dispatch_, thread_, builder.getInt32(flags), place(call, nullptr)});
  }

  void watch_plain(llvm::Instruction& instruction) {
    llvm::Value* pointer = nullptr;
    llvm::Type* type = instruction.getType();
    uint32_t flags = 0;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      if (reads_dispatch(load, dispatch_)) return;
      pointer = load->getPointerOperand();
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      pointer = store->getPointerOperand();
      type = store->getValueOperand()->getType();
      flags = SMELT_CPU_ACCESS_WRITES;
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      pointer = exchange->getPointerOperand();
      type = exchange->getCompareOperand()->getType();
      flags = SMELT_CPU_ACCESS_WRITES;
    } else if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      pointer = atomic->getPointerOperand();
      flags = SMELT_CPU_ACCESS_WRITES;
    } else {
      if (llvm::isa<llvm::FenceInst>(instruction)) tell_meeting(instruction, SMELT_CPU_FENCE);
      return;
    }
    if (instruction.isAtomic()) flags |= SMELT_CPU_ACCESS_ATOMIC | (has_fences_ ? SMELT_CPU_ACCESS_MAY_FENCE : 0);
    tell_access(instruction, pointer, llvm::ConstantInt::get(i64_, layout_.getTypeStoreSize(type)), flags);
  }

  void watch_call(llvm::CallInst& call) {
    if (auto* memory = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&call)) {
      llvm::IRBuilder<> builder(&call);
      llvm::Value* bytes = builder.CreateZExtOrTrunc(memory->getLength(), i64_);
      if (auto* transfer = llvm::dyn_cast<llvm::AnyMemTransferInst>(memory))
        tell_access(call, transfer->getSource(), bytes, 0);
      tell_access(call, memory->getDest(), bytes, SMELT_CPU_ACCESS_WRITES);
      return;
    }
    if (const auto texel = texel_access(call)) {
      // Whoever touches a texel touches its first byte.
      tell_access(call, texel->texel, llvm::ConstantInt::get(i64_, 1), texel->is_write ? SMELT_CPU_ACCESS_WRITES : 0);
      return;
    }
    const llvm::Function* callee = call.getCalledFunction();
    if (callee != nullptr) watch_tensor(call, callee->getName());
    const auto collective = callee != nullptr ? parse_collective(callee->getName()) : std::nullopt;
    if (!collective) return;
    llvm::LLVMContext& context = module_.getContext();
    if (is_lane_move(collective->kind))
      call.setMetadata(kPlaceMetadata, llvm::MDNode::get(context, {llvm::MDString::get(context, place_of(call))}));
    watch_collective(call, *collective);
  }

  void watch_collective(llvm::CallInst& call, const Collective& collective) {
    switch (collective.kind) {
      case CollectiveKind::threadgroup_barrier:
        return tell_meeting(call, barrier_flags(call));
      case CollectiveKind::simdgroup_barrier:
        return tell_meeting(call, barrier_flags(call) | SMELT_CPU_BARRIER_SIMDGROUP);
      case CollectiveKind::matrix_load:
      case CollectiveKind::matrix_store:
        watch_matrix(call, collective);
        return tell_meeting(call, SMELT_CPU_BARRIER_ALL_LANES);
      case CollectiveKind::tensor_product: {
        llvm::SmallVector<llvm::Value*, 8> operands(call.args());
        tell_tensors(call, "tensor_tell_product", operands);
        return tell_meeting(call, SMELT_CPU_BARRIER_ALL_LANES);
      }
      case CollectiveKind::matrix_multiply_accumulate:
        return tell_meeting(call, SMELT_CPU_BARRIER_ALL_LANES);
      case CollectiveKind::async_copy_1d:
        return watch_copy(call);
      default:
        return;
    }
  }

  static uint32_t barrier_flags(const llvm::CallInst& call) {
    const auto* flags = call.arg_size() > 0 ? llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0)) : nullptr;
    constexpr uint32_t kBoth = SMELT_CPU_BARRIER_DEVICE | SMELT_CPU_BARRIER_THREADGROUP;
    if (flags == nullptr) return kBoth;
    // What orders texels is taken to order all of device memory: less is found, and nothing that is right is told of.
    constexpr uint64_t kTexture = 4;
    const uint64_t given = flags->getZExtValue();
    return (static_cast<uint32_t>(given) & kBoth) | ((given & kTexture) != 0 ? SMELT_CPU_BARRIER_DEVICE : 0);
  }

  /// Each of its lines of eight elements, as the SIMD group's own.
  void watch_matrix(llvm::CallInst& call, const Collective& collective) {
    const bool is_write = collective.kind == CollectiveKind::matrix_store;
    const unsigned first = is_write ? 1 : 0;
    llvm::IRBuilder<> builder(&call);
    llvm::Value* second = call.getArgOperand(first + 1);
    llvm::Value* pitch = second;
    llvm::Value* column = builder.getInt64(1);
    llvm::Value* origin = call.getArgOperand(first + 2);
    if (second->getType()->isVectorTy()) {  // (p, dims, strides, origin)
      llvm::Value* strides = call.getArgOperand(first + 2);
      column = builder.CreateExtractElement(strides, uint64_t{0});
      pitch = builder.CreateExtractElement(strides, uint64_t{1});
      origin = call.getArgOperand(first + 3);
    }
    const uint64_t size = collective.element.bits / 8;
    llvm::Value* skip = builder.CreateAdd(builder.CreateMul(builder.CreateExtractElement(origin, uint64_t{0}), column),
                                          builder.CreateMul(builder.CreateExtractElement(origin, uint64_t{1}), pitch));
    const uint32_t flags =
        SMELT_CPU_ACCESS_SIMDGROUP | SMELT_CPU_ACCESS_PART | (is_write ? SMELT_CPU_ACCESS_WRITES : 0);
    const auto* step = llvm::dyn_cast<llvm::ConstantInt>(column);
    const bool in_lines = step != nullptr && step->isOne();
    for (uint64_t row = 0; row < 8; ++row)
      for (uint64_t place = 0; place < (in_lines ? 1 : 8); ++place) {
        llvm::Value* element =
            builder.CreateAdd(skip, builder.CreateAdd(builder.CreateMul(pitch, builder.getInt64(row)),
                                                      builder.CreateMul(column, builder.getInt64(place))));
        llvm::Value* at = builder.CreateGEP(builder.getInt8Ty(), call.getArgOperand(first),
                                            builder.CreateMul(element, builder.getInt64(size)));
        tell_access(call, at, builder.getInt64(in_lines ? 8 * size : size), flags);
      }
    if (is_write) tell_access(*call.getNextNode(), call.getArgOperand(first), builder.getInt64(0), flags);
  }

  /// Operations of one thread: loads and stores of what it holds, and products that it makes alone.
  void watch_tensor(llvm::CallInst& call, llvm::StringRef name) {
    if (!name.consume_front(llvm::StringRef(kRuntimePrefix)) || !name.consume_front("tensor_")) return;
    llvm::IRBuilder<> builder(&call);
    llvm::SmallVector<llvm::Value*, 9> operands(call.args());
    if (name == "product_alone") {  // (descriptor, left, right, destination, form, layout)
      operands.insert(operands.end() - 1, {builder.getInt32(0), builder.getInt32(1)});
      return tell_tensors(call, "tensor_tell_product", operands);
    }
    if (name != "store" && name != "load") return;
    constexpr unsigned kOwnMemory = 7;
    operands.erase(operands.begin() + kOwnMemory);
    operands.push_back(builder.getInt32(name == "store" ? 1 : 0));
    tell_tensors(call, "tensor_tell_elements", operands);
  }

  /// runtime/tensor.c knows which bytes an operation touches, and calls the loader for each row.
  void tell_tensors(llvm::CallInst& call, std::string_view function, llvm::ArrayRef<llvm::Value*> operands) {
    if (!checks_.has(Check::races)) return;
    llvm::IRBuilder<> builder(&call);
    llvm::Function* const tell = declare_runtime(module_, function);
    llvm::SmallVector<llvm::Value*, 14> all{load_watch_field(builder, dispatch_, offsetof(smelt_cpu_watch, access)),
                                            load_watch_field(builder, dispatch_, offsetof(smelt_cpu_watch, context)),
                                            thread_, place(call, nullptr)};
    all.append(operands.begin(), operands.end());
    builder.CreateCall(tell, all);
    builder.SetInsertPoint(call.getNextNode());
    llvm::Value* const none = llvm::ConstantPointerNull::get(pointer_);
    builder.CreateCall(access_helper(), {dispatch_, thread_, none, builder.getInt64(0),
                                         builder.getInt32(SMELT_CPU_ACCESS_PART), all[3]});
  }

  /// (element size, alignment, to, from, count)
  void watch_copy(llvm::CallInst& call) {
    if (call.arg_size() != 5) return;
    llvm::IRBuilder<> builder(&call);
    llvm::Value* bytes = builder.CreateMul(call.getArgOperand(0), call.getArgOperand(4));
    tell_access(call, call.getArgOperand(3), bytes, SMELT_CPU_ACCESS_SIMDGROUP);
    tell_access(call, call.getArgOperand(2), bytes, SMELT_CPU_ACCESS_SIMDGROUP | SMELT_CPU_ACCESS_WRITES);
  }

  const WorkItem& item_;
  llvm::Function& function_;
  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  const Checks checks_;
  const std::vector<ThreadgroupObject>& objects_;
  llvm::Type* void_;
  llvm::Type* i32_;
  llvm::Type* i64_;
  llvm::PointerType* pointer_;
  llvm::Value* dispatch_ = nullptr;
  llvm::Value* threadgroup_memory_ = nullptr;
  llvm::Value* thread_ = nullptr;
  bool has_fences_ = false;
};

}  // namespace

void watch_threads(const WorkItem& item, Checks checks, const std::vector<ThreadgroupObject>& objects) {
  ThreadWatcher(item, checks, objects).run();
}

}  // namespace smelt::aot::cpu
