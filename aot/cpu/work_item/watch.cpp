// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/watch.hpp"

#include "abi/dispatch_block.hpp"
#include "lower/collectives.hpp"
#include "runtime/runtime.hpp"
#include "work_item/defined.hpp"
#include "work_item/make_work_item.hpp"
#include "work_item/quiet_buffers.hpp"
#include "work_item/texel_access.hpp"
#include "work_item/watch_calls.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <array>
#include <map>
#include <optional>

namespace smelt::aot::cpu {
namespace {

constexpr char kSites[] = "smelt.sites";

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
    }
  }

  void run() {
    std::vector<llvm::Instruction*> all;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (instruction.mayReadOrWriteMemory() || llvm::isa<llvm::CallInst>(instruction)) all.push_back(&instruction);
    if (all.empty()) return;
    if (checks_.has(Check::races)) quiet_.emplace(item_, llvm::cast<llvm::Argument>(dispatch_));
    thread_ = thread_index(item_);
    if (quiet_) {
      OurBuilder builder(*llvm::cast<llvm::Instruction>(thread_)->getNextNode());
      quiet_->ask(builder, dispatch_);
    }
    shift_ = cell_shift(all);
    sites_.try_emplace({describe(objects_), shift_ << SMELT_CPU_ACCESS_SHIFT}, kNoAccess);
    has_fences_ = llvm::any_of(all, [](const llvm::Instruction* one) { return llvm::isa<llvm::FenceInst>(one); });
    if (checks_.has(Check::races) && !has_fences_) keep_stamps(all);
    for (llvm::Instruction* instruction : all) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(instruction))
        watch_call(*call);
      else
        watch_plain(*instruction);
    }
    put_sites();
    promote_stamps();
  }

 private:
  enum class Kind : uint8_t { read, write, atomic_change };
  static constexpr unsigned kNoAccess = 0;  // site of none: what tells the loader of the table and the size of cells
  enum StampField : uint8_t { kDevice, kThreadgroup, kThreadgroupSince };
  static constexpr std::array<uint64_t, 3> kStampFields{offsetof(smelt_cpu_stamp, device),
                                                        offsetof(smelt_cpu_stamp, threadgroup),
                                                        offsetof(smelt_cpu_stamp, threadgroup_since)};
  /// MemorySanitizer is not to follow what is not the kernel's.
  class OurBuilder : public llvm::IRBuilder<llvm::ConstantFolder, llvm::IRBuilderCallbackInserter> {
   public:
    explicit OurBuilder(llvm::Instruction& before)
        : IRBuilder(before.getContext(), llvm::ConstantFolder(),
                    llvm::IRBuilderCallbackInserter(
                        [ours = llvm::MDNode::get(before.getContext(), {})](llvm::Instruction* made) {
                          made->setMetadata(llvm::LLVMContext::MD_nosanitize, ours);
                        })) {
      SetInsertPoint(&before);
    }
  };

  /// Cells are as small as the smallest thing that is touched, so that no two share one.
  unsigned cell_shift(llvm::ArrayRef<llvm::Instruction*> all) const {
    unsigned least = 2;
    const auto take = [&](uint64_t bytes) { least = std::min(least, static_cast<unsigned>(llvm::countr_zero(bytes))); };
    for (const llvm::Instruction* one : all) {
      if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(one)) {
        if (reads_dispatch(load, dispatch_) || !is_shared(load->getPointerOperand())) continue;
        take(layout_.getTypeStoreSize(load->getType()) | load->getAlign().value());
      } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(one)) {
        if (!is_shared(store->getPointerOperand())) continue;
        take(layout_.getTypeStoreSize(store->getValueOperand()->getType()) | store->getAlign().value());
      } else if (const auto* memory = llvm::dyn_cast<llvm::AnyMemIntrinsic>(one)) {
        const auto* length = llvm::dyn_cast<llvm::ConstantInt>(memory->getLength());
        take(length != nullptr ? length->getZExtValue() | 4 : 1);
      } else if (const auto* call = llvm::dyn_cast<llvm::CallInst>(one)) {
        if (texel_access(*call) || tensor_operation(*call)) take(1);
        const auto collective = call->getCalledFunction() != nullptr
                                    ? parse_collective(call->getCalledFunction()->getName())
                                    : std::nullopt;
        if (!collective) continue;
        if (collective->kind == CollectiveKind::matrix_load || collective->kind == CollectiveKind::matrix_store)
          take(collective->element.bits / 8);
        if (collective->kind == CollectiveKind::async_copy_1d) {
          const auto* size = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
          take(size != nullptr ? size->getZExtValue() | 4 : 1);
        }
      }
    }
    return least;
  }

  /// Of runtime/tensor.c: its name behind "tensor_". Its elements are known when it runs.
  static std::optional<llvm::StringRef> tensor_operation(const llvm::CallInst& call) {
    llvm::StringRef name = call.getCalledFunction() != nullptr ? call.getCalledFunction()->getName() : "";
    if (const auto collective = parse_collective(name);
        collective && collective->kind == CollectiveKind::tensor_product)
      return "product";
    if (!name.consume_front(llvm::StringRef(kRuntimePrefix)) || !name.consume_front("tensor_")) return std::nullopt;
    return name;
  }

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

  /// Who the thread is changes at barriers alone: it is looked up once between two of them.
  void keep_stamps(llvm::ArrayRef<llvm::Instruction*> all) {
    llvm::IRBuilder<> entry(&*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    for (llvm::AllocaInst*& field : stamp_) field = entry.CreateAlloca(i64_);
    look_up_stamp(*llvm::cast<llvm::Instruction>(thread_)->getNextNode());
    for (llvm::Instruction* one : all) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(one);
      if (call != nullptr && call->getCalledFunction() != nullptr &&
          parse_collective(call->getCalledFunction()->getName()))
        look_up_stamp(*one->getNextNode());
    }
  }

  void look_up_stamp(llvm::Instruction& before) {
    OurBuilder builder(before);
    llvm::Value* stamps = load_watch_field(builder, dispatch_, offsetof(smelt_cpu_watch, stamps));
    llvm::Value* shift =
        builder.CreateLoad(i32_, watch_field_address(builder, dispatch_, offsetof(smelt_cpu_watch, stamp_shift)));
    llvm::Value* number = builder.CreateZExt(builder.CreateLShr(thread_, shift), i64_);
    llvm::Value* stamp = builder.CreateGEP(builder.getInt8Ty(), stamps,
                                           builder.CreateMul(number, builder.getInt64(sizeof(smelt_cpu_stamp))));
    llvm::Value* thread = builder.CreateShl(builder.CreateZExt(thread_, i64_), SMELT_CPU_CELL_THREAD_BIT);
    for (size_t i = 0; i < stamp_.size(); ++i) {
      llvm::Value* at = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), stamp, kStampFields[i]);
      llvm::Value* era = builder.CreateLoad(i64_, at);
      builder.CreateStore(i == kThreadgroupSince ? era : builder.CreateOr(era, thread), stamp_[i]);
    }
  }

  void promote_stamps() {
    if (stamp_[0] == nullptr) return;
    llvm::DominatorTree tree(function_);
    llvm::PromoteMemToReg(stamp_, tree);
  }

  /// Its number: where it stands, and what it does.
  unsigned site(const llvm::Instruction& instruction, uint64_t element, uint32_t flags) {
    std::string text = place_of(instruction);
    flags |= shift_ << SMELT_CPU_ACCESS_SHIFT | std::min(llvm::Log2_64(element), 7u) << SMELT_CPU_ACCESS_ELEMENT;
    // The last numbers are for what has no place any more; of kinds there are fewer.
    constexpr size_t kMostSites = (size_t{1} << SMELT_CPU_CELL_SITE_BITS) - 512;
    if (sites_.size() >= kMostSites) text = "line unknown";
    const auto [at, is_new] = sites_.try_emplace({std::move(text), flags}, static_cast<unsigned>(sites_.size()));
    return at->second;
  }

  llvm::Value* sites() {
    if (sites_place_ == nullptr)
      sites_place_ = new llvm::GlobalVariable(module_, llvm::Type::getInt64Ty(module_.getContext()), true,
                                              llvm::GlobalValue::ExternalLinkage, nullptr, "smelt.sites.later");
    return sites_place_;
  }

  /// smelt_cpu_site of all, and their texts behind them.
  void put_sites() {
    if (sites_place_ == nullptr) return;
    std::vector<uint32_t> rows(2 * sites_.size());
    std::map<std::string, uint32_t> places;
    std::string texts;
    for (const auto& [key, number] : sites_) {
      const auto& [text, flags] = key;
      const auto [at, is_new] = places.try_emplace(text, static_cast<uint32_t>(4 * rows.size() + texts.size()));
      if (is_new) texts += text + '\0';
      rows[2 * number] = flags;
      rows[2 * number + 1] = at->second;
    }
    llvm::LLVMContext& context = module_.getContext();
    llvm::Constant* value = llvm::ConstantStruct::getAnon(
        {llvm::ConstantDataArray::get(context, rows), llvm::ConstantDataArray::getString(context, texts, false)}, true);
    auto* global =
        new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::InternalLinkage, value, kSites);
    global->setAlignment(llvm::Align(8));
    sites_place_->replaceAllUsesWith(global);
    sites_place_->eraseFromParent();
  }

  /// `of` touches `bytes` bytes, in elements of that size. What tells of it is put before `before`.
  void tell_access(llvm::Instruction& before, const llvm::Instruction& of, llvm::Value* pointer, llvm::Value* bytes,
                   uint64_t element, uint32_t flags, bool is_aligned = true) {
    if (!checks_.has(Check::races) || !is_shared(pointer)) return;
    const unsigned number = site(of, element, flags);
    constexpr uint64_t kMostCells = 8;
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(bytes);
    const uint64_t cells = known != nullptr ? known->getZExtValue() >> shift_ : 0;
    const auto field = field_of_cells(pointer);
    const bool is_write = (flags & SMELT_CPU_ACCESS_WRITES) != 0;
    const bool is_atomic = (flags & SMELT_CPU_ACCESS_ATOMIC) != 0;
    const bool is_easy = is_aligned && cells > 0 && cells <= kMostCells && cells << shift_ == known->getZExtValue() &&
                         (flags & SMELT_CPU_ACCESS_SIMDGROUP) == 0 && (is_write || !is_atomic);
    llvm::Instruction* told = &before;
    if (llvm::Value* quiet = quiet_->is_quiet(pointer)) {
      llvm::Value* is_told = OurBuilder(before).CreateNot(quiet);
      told = llvm::SplitBlockAndInsertIfThen(is_told, &before, false);
    }
    if (is_easy && field && !has_fences_)
      note_in_cells(*told, pointer, *field, static_cast<unsigned>(cells), bytes, number,
                    is_atomic  ? Kind::atomic_change
                    : is_write ? Kind::write
                               : Kind::read);
    else
      call_access(*told, pointer, bytes, number);
  }

  void call_access(llvm::Instruction& before, llvm::Value* pointer, llvm::Value* bytes, unsigned number,
                   llvm::Value* thread = nullptr) {
    llvm::IRBuilder<> builder(&before);
    llvm::Function* helper = watch_function(module_, "smelt.watch.access", offsetof(smelt_cpu_watch, access), void_,
                                            {i32_, pointer_, i64_, i32_, pointer_});
    builder.CreateCall(
        helper, {dispatch_, thread != nullptr ? thread : thread_, builder.CreateAddrSpaceCast(pointer, pointer_), bytes,
                 builder.getInt32(number), sites()});
  }

  /// The smelt_cpu_cells of the memory that it points to, where that is known to be one argument's.
  std::optional<uint64_t> field_of_cells(const llvm::Value* pointer) const {
    llvm::SmallVector<const llvm::Value*> origins;
    llvm::getUnderlyingObjects(pointer, origins, nullptr, 0);
    std::optional<uint64_t> found;
    for (const llvm::Value* origin : origins) {
      const auto* argument = llvm::dyn_cast<llvm::Argument>(origin);
      if (argument == nullptr) return std::nullopt;
      const WorkParameter& parameter = item_.parameters[argument->getArgNo()];
      std::optional<uint64_t> field;
      if (parameter.kind == WorkParameter::Kind::threadgroup_memory || parameter.is_bound(BindingClass::threadgroup))
        field = offsetof(smelt_cpu_watch, threadgroup_cells);
      else if (parameter.is_bound(BindingClass::buffer) && parameter.count == 0 &&
               parameter.index < SMELT_CPU_MAX_BUFFERS)
        field = offsetof(smelt_cpu_watch, buffer_cells) + sizeof(smelt_cpu_cells) * parameter.index;
      if (!field || (found && *found != *field)) return std::nullopt;
      found = field;
    }
    return found;
  }

  /// Does itself what most accesses need, and calls for the rest. The loader's Watcher::read_at_once and touch are the
  /// whole of it; what is done here must be the same.
  void note_in_cells(llvm::Instruction& before, llvm::Value* pointer, uint64_t field, unsigned cells,
                     llvm::Value* bytes, unsigned number, Kind kind) {
    const bool is_threadgroup = field == offsetof(smelt_cpu_watch, threadgroup_cells);
    OurBuilder builder(before);
    llvm::Type* type = i64_;
    if (cells > 1) type = llvm::FixedVectorType::get(i64_, cells);
    const auto all = [&](uint64_t bits) { return llvm::ConstantInt::get(type, bits); };
    const auto in_all = [&](llvm::Value* word) { return cells > 1 ? builder.CreateVectorSplat(cells, word) : word; };
    const auto holds = [&](llvm::Value* condition) {
      return cells > 1 ? builder.CreateAndReduce(condition) : condition;
    };
    llvm::Value* base =
        load_watch_field(builder, dispatch_, field + offsetof(smelt_cpu_cells, from_zero) + 8 * shift_, i64_);
    llvm::Value* cleared = builder.CreateAnd(builder.CreatePtrToInt(pointer, i64_), ~uint64_t{0} << shift_);
    llvm::Value* place =
        builder.CreateIntToPtr(builder.CreateAdd(base, builder.CreateShl(cleared, 3 - shift_)), pointer_);
    llvm::Value* last = builder.CreateAlignedLoad(type, place, llvm::Align(8));
    const auto of_stamp = [&](StampField field) { return builder.CreateLoad(i64_, stamp_[field]); };
    llvm::Value* who = of_stamp(is_threadgroup ? kThreadgroup : kDevice);
    llvm::Value* limit =
        in_all(is_threadgroup ? of_stamp(kThreadgroupSince)
                              : load_watch_field(builder, dispatch_, offsetof(smelt_cpu_watch, since), i64_));
    const uint64_t does =
        (kind != Kind::read ? SMELT_CPU_CELL_WRITES : 0) | (kind == Kind::atomic_change ? SMELT_CPU_CELL_ATOMIC : 0);

    constexpr uint64_t kEra = ~uint64_t{0} << SMELT_CPU_CELL_ERA_BIT;
    constexpr uint64_t kThread = ~uint64_t{0} << SMELT_CPU_CELL_THREAD_BIT;
    constexpr uint64_t kMany = SMELT_CPU_CELL_MANY;
    constexpr uint64_t kMarks = SMELT_CPU_CELL_WROTE | SMELT_CPU_CELL_MANY | SMELT_CPU_CELL_ASK;
    llvm::Value* apart = builder.CreateXor(last, in_all(who));
    const auto is = [&](llvm::Value* value, uint64_t bits, uint64_t wanted) {
      return builder.CreateICmpEQ(builder.CreateAnd(value, all(bits)), all(wanted));
    };
    llvm::MDBuilder weights(module_.getContext());
    llvm::Instruction* rest = &before;
    llvm::Value* may_note = nullptr;
    if (kind == Kind::read) {
      // It read or wrote it already; others of its era did; threads of two groups did, and nobody wrote.
      llvm::Value* known = builder.CreateOr(is(apart, kThread | SMELT_CPU_CELL_ATOMIC | SMELT_CPU_CELL_ASK, 0),
                                            is(apart, kEra | kMany, kMany));
      if (!is_threadgroup)
        known = builder.CreateOr(known, builder.CreateICmpULT(builder.CreateSub(last, limit), all(~kEra + 1)));
      rest = llvm::SplitBlockAndInsertIfThen(builder.CreateNot(holds(known)), &before, false,
                                             weights.createBranchWeights(1, 2));
      builder.SetInsertPoint(rest);
      may_note = builder.CreateICmpULT(last, limit);
    } else if (kind == Kind::write) {
      may_note =
          builder.CreateOr(builder.CreateICmpULT(last, limit), is(apart, kThread | SMELT_CPU_CELL_ATOMIC | kMarks, 0));
    } else {
      may_note = builder.CreateOr(builder.CreateICmpULT(last, limit),
                                  is(last, kMarks | SMELT_CPU_CELL_WRITES | SMELT_CPU_CELL_ATOMIC, does));
    }
    llvm::Instruction* note = nullptr;
    llvm::Instruction* ask = nullptr;
    llvm::Value* now = builder.CreateOr(who, builder.getInt64(does | number));
    llvm::SplitBlockAndInsertIfThenElse(holds(may_note), rest, &note, &ask, weights.createBranchWeights(1000, 1));
    builder.SetInsertPoint(note);
    builder.CreateAlignedStore(in_all(now), place, llvm::Align(8));
    if (kind == Kind::read) {
      // A second reader: its word lies behind the first.
      builder.SetInsertPoint(ask);
      llvm::Value* is_second = is(apart, kEra, 0);
      is_second = builder.CreateAnd(is_second, is(last, kMarks | SMELT_CPU_CELL_WRITES | SMELT_CPU_CELL_ATOMIC, 0));
      llvm::Instruction* add = nullptr;
      llvm::SplitBlockAndInsertIfThenElse(holds(is_second), ask, &add, &ask, weights.createBranchWeights(1000, 1));
      builder.SetInsertPoint(add);
      llvm::Value* behind = load_watch_field(builder, dispatch_, offsetof(smelt_cpu_watch, to_second), i64_);
      builder.CreateAlignedStore(in_all(now), builder.CreateGEP(builder.getInt8Ty(), place, behind), llvm::Align(8));
      builder.CreateAlignedStore(builder.CreateOr(last, all(kMany)), place, llvm::Align(8));
    }
    builder.SetInsertPoint(ask);
    constexpr uint64_t kThreads = (uint64_t{1} << (SMELT_CPU_CELL_ERA_BIT - SMELT_CPU_CELL_THREAD_BIT)) - 1;
    llvm::Value* thread = builder.CreateAnd(builder.CreateLShr(who, SMELT_CPU_CELL_THREAD_BIT), kThreads);
    call_access(*ask, pointer, bytes, number, builder.CreateTrunc(thread, i32_));
  }

  /// What follows is put where only the first thread of a SIMD group comes.
  llvm::Instruction* of_first_lane(llvm::Instruction& before) {
    llvm::IRBuilder<> builder(&before);
    llvm::Value* is_first =
        builder.CreateICmpEQ(builder.CreateAnd(thread_, builder.getInt32(kSimdWidth - 1)), builder.getInt32(0));
    return llvm::SplitBlockAndInsertIfThen(is_first, &before, false);
  }

  /// Barriers and operations of all lanes are told of by the launch loop, once for all threads that come together.
  void tell_meeting(llvm::Instruction& call, uint32_t flags) {
    constexpr uint32_t kMemory = SMELT_CPU_BARRIER_DEVICE | SMELT_CPU_BARRIER_THREADGROUP | SMELT_CPU_FENCE;
    if (!checks_.has(Check::sync) && (!checks_.has(Check::races) || (flags & kMemory) == 0)) return;
    if (checks_.has(Check::sync) && flags != SMELT_CPU_FENCE) flags |= SMELT_CPU_MEET_IS_CHECKED;
    if (auto* meeting = llvm::dyn_cast<llvm::CallInst>(&call)) {
      llvm::LLVMContext& context = module_.getContext();
      llvm::Metadata* told[] = {llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(i32_, flags)),
                                llvm::MDString::get(context, place_of(call))};
      call.setMetadata(kMeetMetadata, llvm::MDNode::get(context, told));
      meeting->addFnAttr(llvm::Attribute::NoMerge);  // two that are one have no place
      return;
    }
    llvm::IRBuilder<> builder(&call);
    llvm::Function* helper = watch_function(module_, "smelt.watch.meet", offsetof(smelt_cpu_watch, meet), void_,
                                            {i32_, i32_, i32_, pointer_});
    builder.CreateCall(helper, {dispatch_, thread_, builder.getInt32(1), builder.getInt32(flags),
                                place_text(module_, place_of(call))});
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
    tell_access(instruction, instruction, pointer, llvm::ConstantInt::get(i64_, layout_.getTypeStoreSize(type)),
                std::max<uint64_t>(layout_.getTypeStoreSize(type->getScalarType()), 1), flags);
  }

  bool fits_cells(llvm::MaybeAlign align) const { return align.valueOrOne().value() >= uint64_t{1} << shift_; }

  void watch_call(llvm::CallInst& call) {
    if (auto* memory = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&call)) {
      llvm::IRBuilder<> builder(&call);
      llvm::Value* bytes = builder.CreateZExtOrTrunc(memory->getLength(), i64_);
      if (auto* transfer = llvm::dyn_cast<llvm::AnyMemTransferInst>(memory))
        tell_access(call, call, transfer->getSource(), bytes, uint64_t{1} << shift_, 0,
                    fits_cells(transfer->getSourceAlign()));
      tell_access(call, call, memory->getDest(), bytes, uint64_t{1} << shift_, SMELT_CPU_ACCESS_WRITES,
                  fits_cells(memory->getDestAlign()));
      return;
    }
    if (const auto texel = texel_access(call)) {
      // Whoever touches a texel touches its first byte.
      tell_access(call, call, texel->texel, llvm::ConstantInt::get(i64_, 1), 1,
                  texel->is_write ? SMELT_CPU_ACCESS_WRITES : 0);
      return;
    }
    if (const auto name = tensor_operation(call)) watch_tensor(call, *name);
    const llvm::Function* callee = call.getCalledFunction();
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
      case CollectiveKind::tensor_product:
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
    if (!checks_.has(Check::races)) return;
    llvm::Instruction& told = *of_first_lane(call);
    llvm::IRBuilder<> builder(&told);
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
        tell_access(told, call, at, builder.getInt64(in_lines ? 8 * size : size), size, flags);
      }
    if (is_write) tell_done(*of_first_lane(*call.getNextNode()), site(call, size, flags));
  }

  /// What was told of in parts is done.
  void tell_done(llvm::Instruction& before, unsigned number) {
    call_access(before, llvm::ConstantPointerNull::get(pointer_), llvm::ConstantInt::get(i64_, 0), number);
  }

  /// Products of SIMD groups, and what one thread does: loads and stores of what it holds, products that it makes
  /// alone.
  void watch_tensor(llvm::CallInst& call, llvm::StringRef name) {
    if (!checks_.has(Check::races)) return;
    llvm::IRBuilder<> builder(&call);
    llvm::SmallVector<llvm::Value*, 9> operands(call.args());
    if (name == "product") {
      tell_tensors(*of_first_lane(call), *of_first_lane(*call.getNextNode()), call, SMELT_CPU_ACCESS_SIMDGROUP,
                   "tensor_tell_product", operands);
    } else if (name == "product_alone") {  // (descriptor, left, right, destination, form, layout)
      operands.insert(operands.end() - 1, {builder.getInt32(0), builder.getInt32(1)});
      tell_tensors(call, *call.getNextNode(), call, 0, "tensor_tell_product", operands);
    } else if (name == "store" || name == "load") {
      constexpr unsigned kOwnMemory = 7;
      operands.erase(operands.begin() + kOwnMemory);
      operands.push_back(builder.getInt32(name == "store" ? 1 : 0));
      tell_tensors(call, *call.getNextNode(), call, 0, "tensor_tell_elements", operands);
    }
  }

  /// runtime/tensor.c knows which bytes an operation touches, and calls the loader for each row.
  void tell_tensors(llvm::Instruction& before, llvm::Instruction& after, const llvm::CallInst& call, uint32_t flags,
                    std::string_view function, llvm::ArrayRef<llvm::Value*> operands) {
    std::vector<uint32_t> numbers;
    for (const uint64_t element : {1, 2, 4})
      for (const uint32_t writes : {0u, SMELT_CPU_ACCESS_WRITES})
        numbers.push_back(site(call, element, flags | SMELT_CPU_ACCESS_PART | writes));
    llvm::Constant* const values = llvm::ConstantDataArray::get(module_.getContext(), numbers);
    auto* const table = new llvm::GlobalVariable(module_, values->getType(), true, llvm::GlobalValue::InternalLinkage,
                                                 values, "smelt.sites.tensor");
    llvm::IRBuilder<> builder(&before);
    llvm::SmallVector<llvm::Value*, 14> all{load_watch_field(builder, dispatch_, offsetof(smelt_cpu_watch, access)),
                                            load_watch_field(builder, dispatch_, offsetof(smelt_cpu_watch, context)),
                                            thread_, table, sites()};
    all.append(operands.begin(), operands.end());
    builder.CreateCall(declare_runtime(module_, function), all);
    tell_done(after, numbers.front());
  }

  /// (element size, alignment, to, from, count)
  void watch_copy(llvm::CallInst& call) {
    if (call.arg_size() != 5) return;
    if (!checks_.has(Check::races)) return;
    llvm::Instruction& told = *of_first_lane(call);
    llvm::IRBuilder<> builder(&told);
    llvm::Value* bytes = builder.CreateMul(call.getArgOperand(0), call.getArgOperand(4));
    const auto* size = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    const uint64_t element = size != nullptr ? std::max<uint64_t>(size->getZExtValue(), 1) : 1;
    tell_access(told, call, call.getArgOperand(3), bytes, element, SMELT_CPU_ACCESS_SIMDGROUP);
    tell_access(told, call, call.getArgOperand(2), bytes, element,
                SMELT_CPU_ACCESS_SIMDGROUP | SMELT_CPU_ACCESS_WRITES);
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
  llvm::Value* thread_ = nullptr;
  std::optional<QuietBuffers> quiet_;
  std::array<llvm::AllocaInst*, 3> stamp_{};  ///< kStampFields
  bool has_fences_ = false;
  unsigned shift_ = 2;  ///< cells are 1 << that many bytes
  std::map<std::pair<std::string, uint32_t>, unsigned> sites_;
  llvm::GlobalVariable* sites_place_ = nullptr;
};

}  // namespace

void call_meet(llvm::IRBuilderBase& builder, llvm::Module& module, llvm::Value* dispatch, llvm::Value* first,
               llvm::Value* threads, const llvm::MDNode& meeting) {
  const std::string place = llvm::cast<llvm::MDString>(meeting.getOperand(1))->getString().str();
  call_watch(
      builder, dispatch, offsetof(smelt_cpu_watch, meet), builder.getVoidTy(),
      {first, threads, llvm::mdconst::extract<llvm::ConstantInt>(meeting.getOperand(0)), place_text(module, place)});
}

void tell_sites(llvm::Function& entry) {
  llvm::GlobalVariable* const sites = entry.getParent()->getNamedGlobal(kSites);
  if (sites == nullptr) return;
  llvm::IRBuilder<> builder(&*entry.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  call_watch(builder, entry.getArg(0), offsetof(smelt_cpu_watch, access), builder.getVoidTy(),
             {builder.getInt32(0), llvm::ConstantPointerNull::get(builder.getPtrTy()), builder.getInt64(0),
              builder.getInt32(0), sites});
}

void watch_threads(const WorkItem& item, Checks checks, const std::vector<ThreadgroupObject>& objects) {
  ThreadWatcher(item, checks, objects).run();
}

}  // namespace smelt::aot::cpu
