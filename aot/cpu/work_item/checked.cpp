// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An access asks its pointer's shadow: offset <= bytes and size <= bytes - offset, unsigned, which catches negative
// offsets too.
#include "work_item/checked.hpp"

#include "smelt/schema/cpu_abi.h"

#include "lower/collectives.hpp"
#include "lower/lower.hpp"
#include "lower/tensors.hpp"
#include "runtime/runtime.hpp"
#include "work_item/defined.hpp"
#include "work_item/fault.hpp"
#include "work_item/make_work_item.hpp"
#include "work_item/pointer_shadows.hpp"
#include "work_item/recursion.hpp"
#include "work_item/texel_access.hpp"
#include "work_item/watch_calls.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <algorithm>
#include <optional>

namespace smelt::aot::cpu {
namespace {

// Numbers of an operation on a whole tile, above which its size could overflow.
constexpr uint64_t kMostStride = uint64_t{1} << 27;
constexpr uint64_t kLargestElement = 256;

/// Bytes from `pointer` on that an instruction touches.
struct Range {
  llvm::Value* pointer = nullptr;
  llvm::Value* bytes = nullptr;  ///< i64
  bool is_write = false;
  llvm::Value* also = nullptr;  ///< i1: must hold besides; may be null
};

/// The work item's thread_position_in_grid. A function that a work item calls does not get it: three nulls.
std::array<llvm::Value*, 3> position_in(llvm::Function& function, const WorkItem* item) {
  std::array<llvm::Value*, 3> position{};
  for (size_t i = 0; item != nullptr && i < item->parameters.size(); ++i) {
    const WorkParameter& parameter = item->parameters[i];
    if (parameter.kind == WorkParameter::Kind::builtin && parameter.builtin == Builtin::thread_position_in_grid)
      position[parameter.component] = function.getArg(static_cast<unsigned>(i));
  }
  return position;
}

class AccessGuard {
 public:
  AccessGuard(llvm::Function& function, llvm::Value* dispatch, const WorkItem* item,
              llvm::ArrayRef<ThreadgroupObject> objects)
      : function_(function),
        data_layout_(function.getParent()->getDataLayout()),
        i64_(llvm::Type::getInt64Ty(function.getContext())),
        dispatch_(dispatch),
        shadows_(function, dispatch, item, objects) {
    position_ = position_in(function, item);
    if (item != nullptr) parameters_ = item->parameters;
  }

  Result<void> run() {
    llvm::SmallVector<llvm::Instruction*> accesses;
    llvm::SmallVector<llvm::CallInst*> handles;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (is_handle(&instruction))
        handles.push_back(llvm::cast<llvm::CallInst>(&instruction));
      else if (instruction.mayReadOrWriteMemory())
        accesses.push_back(&instruction);
    for (llvm::Instruction* access : accesses) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(access))
        SMELT_TRY_VOID(guard_call(*call));
      else
        SMELT_TRY_VOID(guard_plain(*access));
    }
    // Last, because guards recognise a texture's memory by the call that gives its handle.
    for (llvm::CallInst* handle : handles) SMELT_TRY_VOID(hold_handle(*handle));
    return {};
  }

 private:
  // ---- one range ----

  /// A condition that holds when the range lies in its object; nothing when that is certain.
  llvm::Value* inside(llvm::IRBuilder<>& builder, const Range& range) {
    const Shadow& shadow = shadows_.of(range.pointer);
    if (shadow.is_ours) return nullptr;
    // Computed from constants by LLVM, a condition that is known is a constant.
    llvm::Value* ok =
        builder.CreateAnd(builder.CreateICmpULE(shadow.offset, shadow.bytes),
                          builder.CreateICmpULE(range.bytes, builder.CreateSub(shadow.bytes, shadow.offset)));
    if (range.also != nullptr) ok = builder.CreateAnd(ok, range.also);
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(ok);
    return known != nullptr && known->isOne() ? nullptr : ok;
  }

  /// Leaves `access` in a block that runs only when `ok`; else the fault is reported. The access's users see zero then.
  void branch_around(llvm::Instruction& access, llvm::Value* ok, const Range& range) {
    const Shadow& shadow = shadows_.of(range.pointer);
    run_only_when(access, ok,
                  {.object = shadow.object,
                   .offset = shadow.offset,
                   .bytes = range.bytes,
                   .position = position_,
                   .is_write = range.is_write});
  }

  void run_only_when(llvm::Instruction& access, llvm::Value* ok, Fault fault) {
    fault.place = place(access);
    llvm::Instruction* then = nullptr;
    llvm::Instruction* otherwise = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(ok, &access, &then, &otherwise);
    llvm::BasicBlock* after = access.getParent();
    access.moveBefore(then);
    llvm::IRBuilder<> report(otherwise);
    report_fault(report, dispatch_, fault);
    if (access.getType()->isVoidTy() || access.use_empty()) return;
    llvm::IRBuilder<> join(&after->front());
    llvm::PHINode* value = join.CreatePHI(access.getType(), 2);
    access.replaceAllUsesWith(value);
    shadows_.replaced(&access, value);
    value->addIncoming(&access, then->getParent());
    value->addIncoming(llvm::Constant::getNullValue(access.getType()), otherwise->getParent());
  }

  llvm::Value* place(const llvm::Instruction& access) { return place_text(*function_.getParent(), place_of(access)); }

  void guard(llvm::Instruction& access, const Range& range) {
    llvm::IRBuilder<> builder(&access);
    if (llvm::Value* ok = inside(builder, range)) branch_around(access, ok, range);
  }

  // ---- instructions ----

  Result<void> guard_plain(llvm::Instruction& access) {
    llvm::Type* type = access.getType();
    Range range{.is_write = true};
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access)) {
      range.pointer = load->getPointerOperand();
      range.is_write = false;
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&access)) {
      range.pointer = store->getPointerOperand();
      type = store->getValueOperand()->getType();
      shadows_.keep(*store);
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&access)) {
      range.pointer = exchange->getPointerOperand();
      type = exchange->getCompareOperand()->getType();
    } else if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&access)) {
      range.pointer = atomic->getPointerOperand();
    } else if (llvm::isa<llvm::FenceInst>(access)) {
      return {};
    } else {
      return unknown(access.getOpcodeName());
    }
    range.bytes = llvm::ConstantInt::get(i64_, data_layout_.getTypeStoreSize(type));
    guard(access, range);
    return {};
  }

  Result<void> guard_call(llvm::CallInst& call) {
    if (auto* memory = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&call)) {
      guard_memory(*memory);
      return {};
    }
    const llvm::Function& callee = *call.getCalledFunction();
    if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call))
      return intrinsic->isAssumeLikeIntrinsic() ? Result<void>() : unknown(callee.getName());
    if (callee.getName() == kLogHelper) return guard_log(call);
    if (is_fault_helper(callee.getName()) || is_recursive_symbol(callee.getName()))
      return {};  // check_recursion: it takes no pointers
    if (const auto texel = texel_access(call)) return guard_texel(call, *texel);
    if (stays_in_textures(call)) return {};
    if (llvm::StringRef name = callee.getName();
        name.consume_front(llvm::StringRef(kRuntimePrefix)) && name.starts_with("tensor_")) {
      if (name == kTensorInit) tell_tensor(call);
      if (name == kTensorBound) guard_bound(call);
      if (name == kTensorLeaves) report_tensor(call);
      return {};  // the rest is kept to what these say, and to memory of the thread's own
    }
    const auto collective = parse_collective(callee.getName());
    if (!collective) return unknown(callee.getName());
    switch (collective->kind) {
      case CollectiveKind::matrix_load:
      case CollectiveKind::matrix_store:
        return guard_matrix(call, *collective);
      case CollectiveKind::async_copy_1d:
        return guard_copy_1d(call);
      case CollectiveKind::async_copy_2d:
        return guard_copy_2d(call);
      default:
        return {};  // values of lanes, and events that nobody looks at
    }
  }

  Result<void> guard_texel(llvm::CallInst& call, const TexelAccess& access) {
    llvm::IRBuilder<> builder(&call);
    const auto wide = [&](llvm::Value* number) {
      return number != nullptr ? builder.CreateZExt(number, i64_) : llvm::ConstantInt::get(i64_, 0);
    };
    llvm::Value* const at = builder.CreateOr(wide(access.x), builder.CreateShl(wide(access.y), 32));
    run_only_when(call, builder.CreateIsNotNull(access.texel),
                  {.object = builder.getInt32(SMELT_CPU_FAULT_TEXTURE),
                   .offset = builder.CreatePtrToInt(access.texture, i64_),
                   .bytes = at,
                   .position = position_,
                   .is_write = access.is_write});
    return {};
  }

  // ---- handles ----

  /// The samplers that a program declares are constants of one or two 64-bit words.
  static bool is_sampler_state(const llvm::GlobalVariable& global) {
    const llvm::Type* type = global.getValueType();
    if (type->isArrayTy() && type->getArrayNumElements() == 2) type = type->getArrayElementType();
    return global.isConstant() && global.hasInitializer() && type->isIntegerTy(64);
  }

  /// True for a handle that was bound, and for a sampler that the program declares. A handle that was loaded or
  /// computed may be anything.
  bool is_certain(const llvm::Value* handle, BindingClass kind) const {
    llvm::SmallVector<const llvm::Value*> rest{handle};
    llvm::SmallPtrSet<const llvm::Value*, 8> seen;
    while (!rest.empty()) {
      const llvm::Value* const one = rest.pop_back_val();
      if (!seen.insert(one).second) continue;
      if (const auto* argument = llvm::dyn_cast<llvm::Argument>(one)) {
        if (argument->getArgNo() >= parameters_.size()) return false;
        const WorkParameter& parameter = parameters_[argument->getArgNo()];
        if (!parameter.is_bound(kind) || parameter.count != 0) return false;
      } else if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(one)) {
        if (kind != BindingClass::sampler || !is_sampler_state(*global)) return false;
      } else if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(one)) {
        rest.append(phi->value_op_begin(), phi->value_op_end());
      } else if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(one)) {
        rest.append({select->getTrueValue(), select->getFalseValue()});
      } else if (const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(one)) {
        rest.push_back(cast->getPointerOperand());
      } else if (const auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(one)) {
        rest.push_back(freeze->getOperand(0));
      } else if (!llvm::isa<llvm::ConstantPointerNull>(one) || kind != BindingClass::texture) {
        return false;
      }
    }
    return true;
  }

  /// The code reports a handle that the launch was not given. It goes on with null for a texture, and with a sampler
  /// without states for a sampler.
  Result<void> hold_handle(llvm::CallInst& call) {
    const bool is_sampler = call.getCalledFunction()->getName() == kSamplerHandle;
    llvm::Value* handle = call.getArgOperand(0);
    if (!is_certain(handle, is_sampler ? BindingClass::sampler : BindingClass::texture)) {
      llvm::Module& module = *function_.getParent();
      llvm::Function* const looks = declare_runtime(module, "texture_is_handle");
      if (looks == nullptr) return unknown("texture_is_handle");
      llvm::IRBuilder<> builder(&call);
      handle = builder.CreateFreeze(handle);
      llvm::Value* const address = builder.CreatePtrToInt(handle, i64_);
      llvm::Value* good = builder.CreateIsNotNull(
          builder.CreateCall(looks, {dispatch_, address, builder.getInt32(is_sampler ? 1 : 0)}));
      if (!is_sampler) good = builder.CreateOr(good, builder.CreateIsNull(address));
      for (llvm::GlobalVariable& global : module.globals())
        if (is_sampler && is_sampler_state(global))
          good = builder.CreateOr(good, builder.CreateICmpEQ(address, builder.CreatePtrToInt(&global, i64_)));
      llvm::IRBuilder<> report(llvm::SplitBlockAndInsertIfThen(builder.CreateNot(good), &call, false));
      report_fault(report, dispatch_,
                   {.object = report.getInt32(SMELT_CPU_FAULT_HANDLE),
                    .offset = address,
                    .bytes = report.getInt64(is_sampler ? 1 : 0),
                    .position = position_,
                    .place = place(call)});
      builder.SetInsertPoint(&call);
      handle = builder.CreateSelect(good, handle,
                                    is_sampler ? no_states(module) : llvm::Constant::getNullValue(call.getType()));
    }
    call.replaceAllUsesWith(handle);
    call.eraseFromParent();
    return link_runtime(*function_.getParent());
  }

  static llvm::Constant* no_states(llvm::Module& module) {
    auto* const words = llvm::ArrayType::get(llvm::Type::getInt64Ty(module.getContext()), 2);
    return module.getOrInsertGlobal("smelt.no_states", words, [&] {
      return new llvm::GlobalVariable(module, words, true, llvm::GlobalValue::InternalLinkage,
                                      llvm::ConstantAggregateZero::get(words), "smelt.no_states");
    });
  }

  void tell_tensor(llvm::CallInst& call) {
    constexpr unsigned kData = 2, kOffset = 6;
    Shadow shadow = shadows_.of(call.getArgOperand(kData));
    if (shadow.is_ours) {  // no memory of the kernel's
      llvm::IRBuilder<> builder(&call);
      shadow = {builder.getInt64(0), builder.getInt64(0), builder.getInt32(SMELT_CPU_FAULT_STRAY)};
    }
    call.setArgOperand(kOffset, shadow.offset);
    call.setArgOperand(kOffset + 1, shadow.bytes);
    call.setArgOperand(kOffset + 2, shadow.object);
  }

  /// A variable that nobody has written holds no handle.
  void guard_bound(llvm::CallInst& call) {
    constexpr unsigned kHandle = 1;
    llvm::IRBuilder<> builder(&call);
    llvm::Value* const handle = builder.CreatePtrToInt(call.getArgOperand(kHandle), i64_);
    llvm::Value* known = builder.getFalse();
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i].is_bound(BindingClass::tensor))
        known = builder.CreateOr(
            known,
            builder.CreateICmpEQ(handle, builder.CreatePtrToInt(function_.getArg(static_cast<unsigned>(i)), i64_)));
    llvm::Value* const none = builder.CreateIsNull(handle);
    run_only_when(call, builder.CreateAnd(known, builder.CreateNot(none)),
                  {.object = builder.CreateSelect(none, builder.getInt32(SMELT_CPU_FAULT_NULL),
                                                  builder.getInt32(SMELT_CPU_FAULT_STRAY)),
                   .offset = handle,
                   .bytes = builder.getInt64(1),
                   .position = position_});
  }

  void report_tensor(llvm::CallInst& call) {
    constexpr unsigned kIsWrite = 4;
    llvm::Instruction* const next = call.getNextNode();
    llvm::Value* const leaves = llvm::IRBuilder<>(next).CreateIsNotNull(&call);
    llvm::Instruction* const then = llvm::SplitBlockAndInsertIfThen(leaves, next, false);
    llvm::IRBuilder<> report(then);
    const auto field = [&](llvm::Type* type, uint64_t at) {
      return report.CreateLoad(type, report.CreateConstInBoundsGEP1_64(report.getInt8Ty(), call.getArgOperand(0), at));
    };
    report_fault(report, dispatch_,
                 {.object = field(report.getInt32Ty(), kTensorObjectAt),
                  .offset = field(i64_, kTensorStrayAt),
                  .bytes = report.getInt64(1),
                  .position = position_,
                  .is_write = llvm::cast<llvm::ConstantInt>(call.getArgOperand(kIsWrite))->isOne(),
                  .place = place(call)});
  }

  static tl::unexpected<Error> unknown(llvm::StringRef what) {
    return fail(Errc::unsupported, "'{}' accesses memory, and checked code cannot tell where", what.str());
  }

  void guard_memory(llvm::AnyMemIntrinsic& memory) {
    llvm::IRBuilder<> builder(&memory);
    llvm::Value* bytes = builder.CreateZExtOrTrunc(memory.getLength(), i64_);
    guard(memory, {memory.getDest(), bytes, true});
    if (auto* transfer = llvm::dyn_cast<llvm::AnyMemTransferInst>(&memory))
      guard(memory, {transfer->getSource(), bytes, false});
  }

  /// smelt.log(dispatch, subsystem, category, type, format, arguments, size): texts are read to their end.
  Result<void> guard_log(llvm::CallInst& call) {
    for (const unsigned text : {1u, 2u, 4u}) {
      const llvm::Value* pointer = call.getArgOperand(text)->stripPointerCasts();
      if (llvm::isa<llvm::ConstantPointerNull>(pointer)) continue;
      const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(pointer);
      const auto* bytes = global != nullptr && global->hasInitializer() && global->isConstant()
                              ? llvm::dyn_cast<llvm::ConstantDataSequential>(global->getInitializer())
                              : nullptr;
      const bool is_empty = global != nullptr && global->hasInitializer() && global->getInitializer()->isNullValue();
      if (!is_empty && (bytes == nullptr || !bytes->isCString()))
        return fail(Errc::unsupported, "a logged text is not a constant, which checked code does not support");
    }
    guard(call, {call.getArgOperand(5), call.getArgOperand(6), false});
    return {};
  }

  // ---- tiles ----

  /// Whether the operands are as AIR has them: `p` a pointer, `l` an i64, `v` two i64, `.` anything.
  static bool takes(const llvm::CallInst& call, std::string_view types) {
    if (call.arg_size() != types.size()) return false;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      const llvm::Type* type = call.getArgOperand(i)->getType();
      const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
      const bool fits = types[i] == 'p'   ? type->isPointerTy()
                        : types[i] == 'l' ? type->isIntegerTy(64)
                        : types[i] == 'v' ? vector != nullptr && vector->getNumElements() == 2 &&
                                                vector->getElementType()->isIntegerTy(64)
                                          : true;
      if (!fits) return false;
    }
    return true;
  }

  llvm::Value* at_most(llvm::IRBuilder<>& builder, std::initializer_list<llvm::Value*> numbers, uint64_t most) {
    llvm::Value* all = builder.getTrue();
    for (llvm::Value* number : numbers)
      all = builder.CreateAnd(all, builder.CreateICmpULE(number, builder.getInt64(most)));
    return all;
  }

  /// The 8x8 elements from the first to the last, whatever the order of rows.
  Result<void> guard_matrix(llvm::CallInst& call, const Collective& collective) {
    const bool is_write = collective.kind == CollectiveKind::matrix_store;
    const unsigned first = is_write ? 1 : 0;
    const std::string matrix(first, '.');
    if (!takes(call, matrix + "plv.") && !takes(call, matrix + "pvvv"))
      return unknown(call.getCalledFunction()->getName());
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
      row = second;
    }
    const uint64_t size = collective.element.bits / 8;
    const auto bytes_of = [&](llvm::Value* elements) { return builder.CreateMul(elements, builder.getInt64(size)); };
    llvm::Value* skip = builder.CreateAdd(builder.CreateMul(builder.CreateExtractElement(origin, uint64_t{0}), column),
                                          builder.CreateMul(builder.CreateExtractElement(origin, uint64_t{1}), row));
    llvm::Value* start = builder.CreateGEP(builder.getInt8Ty(), call.getArgOperand(first), bytes_of(skip));
    llvm::Value* last = builder.CreateMul(builder.CreateAdd(row, column), builder.getInt64(7));
    guard(call, {start, bytes_of(builder.CreateAdd(last, builder.getInt64(1))), is_write,
                 at_most(builder, {row, column}, kMostStride)});
    return {};
  }

  /// (element size, alignment, to, from, count)
  Result<void> guard_copy_1d(llvm::CallInst& call) {
    if (!takes(call, "llppl")) return unknown(call.getCalledFunction()->getName());
    llvm::IRBuilder<> builder(&call);
    llvm::Value* size = call.getArgOperand(0);
    llvm::Value* count = call.getArgOperand(4);
    llvm::Value* fine = builder.CreateAnd(at_most(builder, {size}, kLargestElement),
                                          at_most(builder, {count}, ~uint64_t{0} / kLargestElement));
    llvm::Value* bytes = builder.CreateMul(size, count);
    guard(call, {call.getArgOperand(2), bytes, true, fine});
    guard(call, {call.getArgOperand(3), bytes, false});
    return {};
  }

  /// (element size, alignment, to, pitch, stride, (width, height), from, pitch, stride, (width, height), (x, y), mode);
  /// what is read and written is in runtime/copy.c.
  Result<void> guard_copy_2d(llvm::CallInst& call) {
    if (!takes(call, "llpllvpllvv.")) return unknown(call.getCalledFunction()->getName());
    llvm::IRBuilder<> builder(&call);
    const auto operand = [&](unsigned i) { return call.getArgOperand(i); };
    const auto part = [&](unsigned i, uint64_t which) { return builder.CreateExtractElement(operand(i), which); };
    llvm::Value* size = operand(0);
    llvm::Value* zero = builder.getInt64(0);
    llvm::Value* to_width = part(5, 0);
    llvm::Value* to_height = part(5, 1);
    llvm::Value* is_empty = builder.CreateOr(builder.CreateIsNull(to_width), builder.CreateIsNull(to_height));
    const auto reach = [&](llvm::Value* width, llvm::Value* height, unsigned pitch) {  // in bytes
      const auto steps = [&](llvm::Value* count, llvm::Value* step) {
        return builder.CreateMul(builder.CreateSub(count, builder.getInt64(1)), step);
      };
      llvm::Value* last = builder.CreateAdd(steps(height, operand(pitch)), steps(width, operand(pitch + 1)));
      llvm::Value* bytes = builder.CreateMul(builder.CreateAdd(last, builder.getInt64(1)), size);
      llvm::Value* none =
          builder.CreateOr(is_empty, builder.CreateOr(builder.CreateIsNull(width), builder.CreateIsNull(height)));
      return builder.CreateSelect(none, zero, bytes);
    };
    // Of the source only what the offset leaves in reach of the destination's size is read.
    const auto in_reach = [&](uint64_t which, llvm::Value* to) {
      llvm::Value* all = part(9, which);
      llvm::Value* offset = part(10, which);
      llvm::Value* wanted = builder.CreateAdd(to, offset);
      llvm::Value* least = builder.CreateSelect(builder.CreateICmpULT(wanted, all), wanted, all);
      return builder.CreateSelect(at_most(builder, {offset}, kMostStride), least, all);
    };
    llvm::Value* from_width = in_reach(0, to_width);
    llvm::Value* from_height = in_reach(1, to_height);
    llvm::Value* fine = builder.CreateAnd(
        at_most(builder, {size}, kLargestElement),
        at_most(builder, {operand(3), operand(4), to_width, to_height, operand(7), operand(8), from_width, from_height},
                kMostStride));
    llvm::Value* write = reach(to_width, to_height, 3);
    llvm::Value* read = reach(from_width, from_height, 7);
    guard(call, {operand(2), write, true, fine});
    guard(call, {operand(6), read, false});
    return {};
  }

  llvm::Function& function_;
  const llvm::DataLayout& data_layout_;
  llvm::Type* i64_;
  llvm::Value* dispatch_;
  std::array<llvm::Value*, 3> position_{};
  llvm::ArrayRef<WorkParameter> parameters_;
  PointerShadows shadows_;
};

}  // namespace

void report_outside_arrays(llvm::Function& function, llvm::Value& dispatch, const WorkItem* item) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    const llvm::Value* const pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (pointer == nullptr) continue;
    llvm::APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
    const auto* const array = llvm::dyn_cast<llvm::AllocaInst>(
        pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true));
    if (array == nullptr || !array->isStaticAlloca()) continue;
    const uint64_t bytes = layout.getTypeStoreSize(llvm::getLoadStoreType(&instruction));
    const uint64_t has = array->getAllocationSize(layout)->getFixedValue();
    if (offset.ule(has) && bytes <= has - offset.getZExtValue()) continue;
    llvm::IRBuilder<> builder(&instruction);
    report_fault(builder, &dispatch,
                 {.object = builder.getInt32(SMELT_CPU_FAULT_PRIVATE),
                  .offset = builder.getInt64(static_cast<uint64_t>(offset.getSExtValue())),
                  .bytes = builder.getInt64(bytes),
                  .position = position_in(function, item),
                  .is_write = llvm::isa<llvm::StoreInst>(instruction),
                  .place = place_text(*function.getParent(), place_of(instruction))});
    if (!instruction.getType()->isVoidTy())
      instruction.replaceAllUsesWith(llvm::Constant::getNullValue(instruction.getType()));
    instruction.eraseFromParent();
  }
}

std::string describe(const std::vector<ThreadgroupObject>& objects) {
  std::string text;
  for (const ThreadgroupObject& object : objects) {
    std::string name = object.name;
    std::ranges::replace_if(name, [](unsigned char letter) { return letter < ' '; }, '?');
    text += std::to_string(object.offset) + ' ' + std::to_string(object.bytes) + ' ' + name + '\n';
  }
  return text;
}

Result<void> check_accesses(const WorkItem& item, const std::vector<ThreadgroupObject>& threadgroup_objects) {
  llvm::Value* dispatch = nullptr;
  for (size_t i = 0; i < item.parameters.size(); ++i)
    if (item.parameters[i].kind == WorkParameter::Kind::dispatch)
      dispatch = item.function->getArg(static_cast<unsigned>(i));
  for (llvm::Argument& argument : item.function->args())  // the launch loops compute hardware values from the launch
    if (argument.getType()->isIntegerTy()) argument.addAttr(llvm::Attribute::NoUndef);
  SMELT_TRY_VOID(define_behaviour(*item.function, dispatch));
  return AccessGuard(*item.function, dispatch, &item, threadgroup_objects).run();
}

Result<void> check_accesses(llvm::Function& helper, llvm::Value& dispatch) {
  SMELT_TRY_VOID(define_behaviour(helper, &dispatch));
  return AccessGuard(helper, &dispatch, nullptr, {}).run();
}

}  // namespace smelt::aot::cpu
