// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/pointer_shadows.hpp"

#include "smelt/schema/cpu_abi.h"

#include "abi/dispatch_block.hpp"
#include "work_item/defined.hpp"
#include "work_item/texel_access.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot::cpu {
namespace {

constexpr const char* kLookUp = "smelt.find_buffer";

// Arrays of at most this many bytes have one of shadows beside them, which is four times as large.
constexpr uint64_t kMostWithShadows = 4096;
// Larger numbers stand for other kinds of memory (cpu_abi.h).
constexpr uint32_t kMostVariables = 1 << 24;
// What is kept of a pointer, each an i64.
enum Kept : unsigned { kept_address, kept_offset, kept_bytes, kept_object, kept_numbers };

/// {i64 offset, i64 bytes, i32 index} find_buffer(dispatch, address): the bound buffer in which an address lies.
llvm::Function* look_up_function(llvm::Module& module) {
  if (llvm::Function* known = module.getFunction(kLookUp)) return known;
  llvm::LLVMContext& context = module.getContext();
  auto* pointer = llvm::PointerType::get(context, 0);
  auto* i32 = llvm::Type::getInt32Ty(context);
  auto* i64 = llvm::Type::getInt64Ty(context);
  auto* result = llvm::StructType::get(context, {i64, i64, i32});
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, {pointer, i64}, false),
                                          llvm::GlobalValue::InternalLinkage, kLookUp, module);
  for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn})
    function->addFnAttr(attribute);
  function->setOnlyReadsMemory();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, function); };
  llvm::BasicBlock *begin = block("begin"), *look = block("look"), *next = block("next"), *found = block("found"),
                   *none = block("none");
  llvm::Value* address = function->getArg(1);
  llvm::IRBuilder<> builder(begin);
  llvm::Value* starts = SMELT_DISPATCH_FIELD(builder, pointer, function->getArg(0), buffers);
  llvm::Value* lengths = SMELT_DISPATCH_FIELD(builder, pointer, function->getArg(0), buffer_bytes);
  builder.CreateBr(look);
  builder.SetInsertPoint(look);
  llvm::PHINode* index = builder.CreatePHI(i64, 2);
  index->addIncoming(builder.getInt64(0), begin);
  llvm::Value* start = builder.CreateLoad(i64, builder.CreateGEP(i64, starts, index));
  llvm::Value* bytes = builder.CreateLoad(i64, builder.CreateGEP(i64, lengths, index));
  llvm::Value* offset = builder.CreateSub(address, start);
  builder.CreateCondBr(builder.CreateAnd(builder.CreateIsNotNull(start), builder.CreateICmpULT(offset, bytes)), found,
                       next);
  builder.SetInsertPoint(next);
  llvm::Value* following = builder.CreateAdd(index, builder.getInt64(1));
  index->addIncoming(following, next);
  builder.CreateCondBr(builder.CreateICmpULT(following, builder.getInt64(SMELT_CPU_MAX_BUFFERS)), look, none);
  const auto give = [&](llvm::BasicBlock* where, llvm::Value* at, llvm::Value* has, auto object) {
    builder.SetInsertPoint(where);
    llvm::Value* values[] = {at, has, object()};
    builder.CreateAggregateRet(values, 3);
  };
  give(found, offset, bytes, [&] { return builder.CreateTrunc(index, i32); });
  give(none, address, builder.getInt64(0), [&] { return builder.getInt32(SMELT_CPU_FAULT_STRAY); });
  return function;
}

Shadow choose(llvm::IRBuilder<>& builder, llvm::Value* condition, const Shadow& yes, const Shadow& no) {
  return {builder.CreateSelect(condition, yes.offset, no.offset), builder.CreateSelect(condition, yes.bytes, no.bytes),
          builder.CreateSelect(condition, yes.object, no.object)};
}

}  // namespace

PointerShadows::PointerShadows(llvm::Function& function, llvm::Value* dispatch, const WorkItem* item,
                               llvm::ArrayRef<ThreadgroupObject> objects)
    : function_(function),
      data_layout_(function.getParent()->getDataLayout()),
      i32_(llvm::Type::getInt32Ty(function.getContext())),
      i64_(llvm::Type::getInt64Ty(function.getContext())),
      dispatch_(dispatch),
      item_(item),
      objects_(objects) {
  if (item != nullptr)
    for (size_t i = 0; i < item->parameters.size(); ++i)
      if (item->parameters[i].kind == WorkParameter::Kind::threadgroup_memory)
        threadgroup_memory_ = function.getArg(static_cast<unsigned>(i));
  collect_kept_addresses();
  add_arrays_of_shadows();
}

const Shadow& PointerShadows::of(llvm::Value* pointer) {
  const auto known = shadows_.find(pointer);
  if (known != shadows_.end()) return known->second;
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer)) return of_phi(*phi);
  const Shadow made = make(pointer);
  return shadows_[pointer] = made;
}

Shadow PointerShadows::make(llvm::Value* pointer) {
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(pointer)) return of_argument(*argument);
  if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(pointer)) return of_global(*global);
  if (auto* array = llvm::dyn_cast<llvm::AllocaInst>(pointer))
    return fixed(array->getAllocationSize(data_layout_)->getFixedValue(), SMELT_CPU_FAULT_PRIVATE);
  if (auto* gep = llvm::dyn_cast<llvm::GEPOperator>(pointer)) return of_gep(*gep);
  if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(pointer)) return of(cast->getPointerOperand());
  if (auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(pointer)) return of(freeze->getOperand(0));
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(pointer)) return of_select(*select);
  if (llvm::isa<llvm::ConstantPointerNull, llvm::UndefValue>(pointer)) return fixed(0, SMELT_CPU_FAULT_NULL);
  if (reads_dispatch(pointer, dispatch_)) {
    return of_ours();
  }
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(pointer)) return of_load(*load);
  if (is_handle(pointer)) return of_ours();
  return of_stray(pointer);
}

Shadow PointerShadows::of_ours() {
  Shadow ours = fixed(0, 0);
  ours.is_ours = true;
  return ours;
}

Shadow PointerShadows::fixed(uint64_t bytes, uint32_t object) {
  return {llvm::ConstantInt::get(i64_, 0), llvm::ConstantInt::get(i64_, bytes), llvm::ConstantInt::get(i32_, object)};
}

Shadow PointerShadows::of_global(llvm::GlobalVariable& global) {
  return fixed(data_layout_.getTypeAllocSize(global.getValueType()), SMELT_CPU_FAULT_CONSTANT_TABLE);
}

Shadow PointerShadows::of_gep(llvm::GEPOperator& gep) {
  llvm::Value* base = gep.getPointerOperand();
  // A constant step from the start of threadgroup memory is a variable's own address; no other has been merged with it
  // yet, as the simplifier has not run.
  llvm::APInt step(64, 0);
  if (base == threadgroup_memory_ && gep.accumulateConstantOffset(data_layout_, step))
    return of_threadgroup(step.getZExtValue());
  if (gep.getType()->isVectorTy()) return of_stray(&gep);
  Shadow shadow = of(base);
  if (shadow.is_ours) return shadow;
  llvm::APInt constant(64, 0);
  llvm::MapVector<llvm::Value*, llvm::APInt> variable;
  gep.collectOffset(data_layout_, 64, variable, constant);
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(&gep);
  llvm::IRBuilder<> builder(instruction != nullptr ? instruction : &entry_point());
  llvm::Value* offset = shadow.offset;
  for (const auto& [index, scale] : variable) {
    llvm::Value* wide = builder.CreateSExtOrTrunc(index, i64_);
    offset = builder.CreateAdd(offset, builder.CreateMul(wide, llvm::ConstantInt::get(i64_, scale)));
  }
  shadow.offset = builder.CreateAdd(offset, llvm::ConstantInt::get(i64_, constant));
  return shadow;
}

Shadow PointerShadows::of_select(llvm::SelectInst& select) {
  const Shadow yes = of(select.getTrueValue());
  const Shadow no = of(select.getFalseValue());
  llvm::IRBuilder<> builder(&select);
  return choose(builder, select.getCondition(), yes, no);
}

const Shadow& PointerShadows::of_phi(llvm::PHINode& phi) {
  llvm::IRBuilder<> builder(&phi);
  const unsigned count = phi.getNumIncomingValues();
  llvm::PHINode* offset = builder.CreatePHI(i64_, count);
  llvm::PHINode* bytes = builder.CreatePHI(i64_, count);
  llvm::PHINode* object = builder.CreatePHI(i32_, count);
  shadows_[&phi] = {offset, bytes, object};  // before its operands: loops come back here
  for (unsigned i = 0; i < count; ++i) {
    const Shadow from = of(phi.getIncomingValue(i));
    offset->addIncoming(from.offset, phi.getIncomingBlock(i));
    bytes->addIncoming(from.bytes, phi.getIncomingBlock(i));
    object->addIncoming(from.object, phi.getIncomingBlock(i));
  }
  return shadows_[&phi];
}

Shadow PointerShadows::of_argument(llvm::Argument& argument) {
  if (&argument == dispatch_) {
    return of_ours();
  }
  if (item_ == nullptr) return fixed(0, SMELT_CPU_FAULT_STRAY);  // check_recursion refuses such a function
  const WorkParameter& parameter = item_->parameters[argument.getArgNo()];
  llvm::IRBuilder<> builder(&entry_point());
  const auto length = [&](uint64_t field, llvm::Type* type) {
    llvm::Value* table = load_constant(builder, builder.getPtrTy(), dispatch_, field);
    llvm::Value* bytes = load_constant(builder, type, table, parameter.index * data_layout_.getTypeAllocSize(type));
    return builder.CreateZExt(bytes, i64_);
  };
  if (parameter.kind == WorkParameter::Kind::threadgroup_memory) return of_threadgroup(0);
  if (parameter.kind != WorkParameter::Kind::bound) return fixed(0, SMELT_CPU_FAULT_STRAY);
  switch (form_of(parameter.binding)) {
    case BindingForm::memory:
      return {builder.getInt64(0), length(offsetof(smelt_cpu_dispatch, buffer_bytes), i64_),
              builder.getInt32(parameter.index)};
    case BindingForm::threadgroup:
      return {builder.getInt64(0), length(offsetof(smelt_cpu_dispatch, threadgroup_bytes), i32_),
              builder.getInt32(SMELT_CPU_FAULT_THREADGROUP_ARGUMENT + parameter.index)};
    case BindingForm::handle:  // no address that code makes is based on these: the runtime looks at what they are
      // Several are an array of addresses, which code reads.
      return parameter.count != 0 ? fixed(parameter.count * sizeof(void*), SMELT_CPU_FAULT_PRIVATE) : of_ours();
    case BindingForm::record:
      return of_ours();
  }
  return fixed(0, SMELT_CPU_FAULT_STRAY);
}

Shadow PointerShadows::of_threadgroup(uint64_t offset) {
  const auto object = std::find_if(objects_.begin(), objects_.end(), [&](const ThreadgroupObject& candidate) {
    return offset >= candidate.offset && offset - candidate.offset < std::max<uint64_t>(candidate.bytes, 1);
  });
  if (object == objects_.end()) return fixed(0, SMELT_CPU_FAULT_STATIC_THREADGROUP);
  Shadow shadow = of_variable(*object);
  shadow.offset = llvm::ConstantInt::get(i64_, offset - object->offset);
  return shadow;
}

Shadow PointerShadows::of_variable(const ThreadgroupObject& object) {
  const auto number = static_cast<uint32_t>(&object - objects_.data());
  return fixed(object.bytes,
               number < kMostVariables ? SMELT_CPU_FAULT_VARIABLE + number : SMELT_CPU_FAULT_STATIC_THREADGROUP);
}

/// A pointer of which only the address is known.
Shadow PointerShadows::of_stray(llvm::Value* pointer) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(pointer);
  if (!pointer->getType()->isPointerTy()) return fixed(0, SMELT_CPU_FAULT_STRAY);
  llvm::IRBuilder<> builder(instruction != nullptr ? &**instruction->getInsertionPointAfterDef() : &entry_point());
  llvm::Value* address = builder.CreateFreeze(builder.CreatePtrToInt(pointer, i64_));
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  Shadow shadow{address, builder.getInt64(0), builder.getInt32(SMELT_CPU_FAULT_STRAY)};
  if (space == 1 || space == 2) shadow = look_up_buffer(builder, address);
  for (const Known& known : known_in(space)) {
    llvm::Value* offset = builder.CreateSub(address, known.start);
    Shadow inside = known.shadow;
    inside.offset = offset;
    shadow = choose(builder, builder.CreateICmpULT(offset, inside.bytes), inside, shadow);
  }
  return shadow;
}

/// A pointer may be outside of its object while it lies in an array of the thread's own (a row of an image in front of
/// the first, that the next steps come back from): its address does not say then whose it is. What is kept beside the
/// array does, if it is of this address; where objects start stays as it is.
Shadow PointerShadows::of_load(llvm::LoadInst& load) {
  llvm::Instruction* next = load.getNextNode();
  const Shadow stray = of_stray(&load);
  llvm::IRBuilder<> builder(next);
  llvm::Value* kept = load.getType()->isPointerTy() ? kept_shadow(builder, load.getPointerOperand()) : nullptr;
  if (kept == nullptr) return stray;
  const auto number = [&](Kept which) -> llvm::Value* {
    return builder.CreateLoad(i64_, builder.CreateConstInBoundsGEP1_64(i64_, kept, which));
  };
  const Shadow known{number(kept_offset), number(kept_bytes), builder.CreateTrunc(number(kept_object), i32_)};
  llvm::Value* address = builder.CreateFreeze(builder.CreatePtrToInt(&load, i64_));
  llvm::Value* is_of_it = builder.CreateICmpEQ(number(kept_address), address);
  return choose(builder, builder.CreateAnd(is_of_it, builder.CreateIsNotNull(known.bytes)), known, stray);
}

void PointerShadows::keep(llvm::StoreInst& store) {
  llvm::Value* pointer = store.getValueOperand();
  if (!pointer->getType()->isPointerTy()) return;
  llvm::IRBuilder<> builder(store.getNextNode());
  llvm::Value* kept = kept_shadow(builder, store.getPointerOperand());
  if (kept == nullptr) return;
  const Shadow& shadow = of(pointer);
  if (shadow.is_ours) return;
  const auto put = [&](Kept which, llvm::Value* number) {
    builder.CreateStore(number, builder.CreateConstInBoundsGEP1_64(i64_, kept, which));
  };
  put(kept_address, builder.CreatePtrToInt(pointer, i64_));
  put(kept_offset, shadow.offset);
  put(kept_bytes, shadow.bytes);
  put(kept_object, builder.CreateZExt(shadow.object, i64_));
}

/// What is kept of the pointer at `place`; null when that is in no array with shadows. A place outside of its array, at
/// which nothing is read or written, has the first one's.
llvm::Value* PointerShadows::kept_shadow(llvm::IRBuilder<>& builder, llvm::Value* place) {
  const auto found = arrays_of_shadows_.find(llvm::getUnderlyingObject(place, 0));
  if (found == arrays_of_shadows_.end()) return nullptr;
  llvm::AllocaInst* shadows = found->second;
  const uint64_t count = llvm::cast<llvm::ArrayType>(shadows->getAllocatedType())->getNumElements();
  llvm::Value* index = builder.CreateLShr(of(place).offset, 3);
  index = builder.CreateSelect(builder.CreateICmpULT(index, builder.getInt64(count)), index, builder.getInt64(0));
  return builder.CreateInBoundsGEP(shadows->getAllocatedType(), shadows, {builder.getInt64(0), index});
}

void PointerShadows::replaced(llvm::Value* pointer, llvm::Value* now) {
  const auto known = shadows_.find(pointer);
  if (known != shadows_.end()) shadows_[now] = known->second;
}

Shadow PointerShadows::look_up_buffer(llvm::IRBuilder<>& builder, llvm::Value* address) {
  llvm::Value* found = builder.CreateCall(look_up_function(*function_.getParent()), {dispatch_, address});
  return {builder.CreateExtractValue(found, 0), builder.CreateExtractValue(found, 1),
          builder.CreateExtractValue(found, 2)};
}

/// Objects to which a pointer of this space may lead, bound buffers aside.
std::vector<PointerShadows::Known> PointerShadows::known_in(unsigned address_space) {
  std::vector<Known> known;
  llvm::IRBuilder<> builder(&entry_point());
  const auto add = [&](llvm::Value* start, const Shadow& shadow) {
    if (auto* array = llvm::dyn_cast<llvm::AllocaInst>(start)) builder.SetInsertPoint(array->getNextNode());
    known.push_back({builder.CreatePtrToInt(start, i64_), shadow});
  };
  if (address_space == 3 && item_ != nullptr) {
    for (size_t i = 0; i < item_->parameters.size(); ++i)
      if (item_->parameters[i].is_bound(BindingClass::threadgroup))
        add(function_.getArg(static_cast<unsigned>(i)), of(function_.getArg(static_cast<unsigned>(i))));
    for (const ThreadgroupObject& object : objects_)
      known.push_back(
          {builder.CreateAdd(builder.CreatePtrToInt(threadgroup_memory_, i64_), builder.getInt64(object.offset)),
           of_variable(object)});
  }
  for (llvm::Value* object : kept_)
    if (object->getType()->getPointerAddressSpace() == address_space) add(object, of(object));
  return known;
}

void PointerShadows::collect_kept_addresses() {
  const auto keep = [&](llvm::Value* pointer) {
    llvm::SmallVector<const llvm::Value*> objects;
    llvm::getUnderlyingObjects(pointer, objects, nullptr, 0);
    for (const llvm::Value* object : objects)
      if (llvm::isa<llvm::AllocaInst, llvm::GlobalVariable>(object) && !llvm::is_contained(kept_, object))
        kept_.push_back(const_cast<llvm::Value*>(object));
  };
  for (llvm::Instruction& instruction : llvm::instructions(function_)) {
    const bool puts_away =
        llvm::isa<llvm::StoreInst, llvm::PtrToIntInst, llvm::InsertValueInst, llvm::InsertElementInst>(instruction);
    if (!puts_away) continue;
    for (llvm::Value* operand : instruction.operands()) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (operand->getType()->isPointerTy() && (store == nullptr || operand == store->getValueOperand())) keep(operand);
    }
  }
}

void PointerShadows::add_arrays_of_shadows() {
  llvm::SmallVector<llvm::AllocaInst*> arrays;
  for (llvm::Instruction& instruction : llvm::instructions(function_)) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (store == nullptr || !store->getValueOperand()->getType()->isPointerTy()) continue;
    auto* array = llvm::dyn_cast<llvm::AllocaInst>(
        const_cast<llvm::Value*>(llvm::getUnderlyingObject(store->getPointerOperand(), 0)));
    if (array == nullptr || !array->isStaticAlloca() || llvm::is_contained(arrays, array)) continue;
    if (array->getAllocationSize(data_layout_)->getFixedValue() <= kMostWithShadows) arrays.push_back(array);
  }
  for (llvm::AllocaInst* array : arrays) {
    const uint64_t count = (array->getAllocationSize(data_layout_)->getFixedValue() + 7) / 8;
    auto* type = llvm::ArrayType::get(llvm::ArrayType::get(i64_, kept_numbers), count);
    llvm::AllocaInst* shadows = llvm::IRBuilder<>(array).CreateAlloca(type, nullptr, "shadows");
    // A stack has shadows of other threads and launches.
    llvm::IRBuilder<>(&entry_point())
        .CreateMemSet(shadows, llvm::ConstantInt::get(llvm::Type::getInt8Ty(function_.getContext()), 0),
                      data_layout_.getTypeAllocSize(type).getFixedValue(), llvm::Align(8));
    arrays_of_shadows_[array] = shadows;
  }
}

}  // namespace smelt::aot::cpu
