// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory holds only what AIR's memory holds: whole bytes, vectors of 2 to 4, pointers, and arrays and structs of those
// (docs/formats/air.md 3.5, 4.3: no i1* in 1684 Apple modules, no vector above 4). Here the *shape* of memory becomes
// plain:
//
//   alloca or global of any other type   an array of bytes, with the old alignment
//   GEP over such a type                 a GEP in bytes
//   load or store of i1, <N x i1>        i8 and a truncation; the integer of N bits and a bitcast
//
// Wider values that are loaded or stored at once are split later, by odd_integers and split_values.
#include "legalise/support.hpp"

#include "llvm/Analysis/Utils/Local.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

llvm::ArrayType* bytes_like(const llvm::Type* type, const llvm::DataLayout& layout) {
  const uint64_t size = layout.getTypeAllocSize(const_cast<llvm::Type*>(type)).getFixedValue();
  return llvm::ArrayType::get(llvm::Type::getInt8Ty(type->getContext()), size);
}

/// Writes an initialiser as memory would hold it. False for what has no bytes (addresses).
bool put_bytes(const llvm::Constant* constant, const llvm::DataLayout& layout, llvm::MutableArrayRef<uint8_t> out) {
  const auto put_integer = [&](const llvm::APInt& value) {
    const unsigned bytes = static_cast<unsigned>(out.size());
    for (unsigned i = 0; i < bytes && i * 8 < value.getBitWidth(); ++i) {
      const unsigned count = std::min(8u, value.getBitWidth() - i * 8);
      out[i] = static_cast<uint8_t>(value.extractBitsAsZExtValue(count, i * 8));
    }
    return true;
  };
  if (constant->isNullValue() || llvm::isa<llvm::UndefValue>(constant)) return true;
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(constant)) return put_integer(integer->getValue());
  if (const auto* real = llvm::dyn_cast<llvm::ConstantFP>(constant))
    return put_integer(real->getValueAPF().bitcastToAPInt());
  llvm::Type* const type = constant->getType();
  if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* places = layout.getStructLayout(record);
    for (unsigned i = 0; i < record->getNumElements(); ++i) {
      const uint64_t size = layout.getTypeStoreSize(record->getElementType(i));
      if (!put_bytes(constant->getAggregateElement(i), layout, out.slice(places->getElementOffset(i), size)))
        return false;
    }
    return true;
  }
  if (const auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const uint64_t stride = layout.getTypeAllocSize(array->getElementType());
    for (unsigned i = 0; i < array->getNumElements(); ++i)
      if (!put_bytes(constant->getAggregateElement(i), layout, out.slice(i * stride, stride))) return false;
    return true;
  }
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    const unsigned bits = vector->getScalarSizeInBits();
    llvm::APInt whole(static_cast<unsigned>(out.size() * 8), 0);
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      const llvm::Constant* lane = constant->getAggregateElement(i);
      if (llvm::isa<llvm::UndefValue>(lane)) continue;
      const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(lane);
      const auto* real = llvm::dyn_cast<llvm::ConstantFP>(lane);
      if (!integer && !real) return false;
      const llvm::APInt value = integer ? integer->getValue() : real->getValueAPF().bitcastToAPInt();
      whole.insertBits(value, i * bits);
    }
    return put_integer(whole);
  }
  return false;
}

Result<void> plain_globals(llvm::Module& module, const llvm::DataLayout& layout) {
  std::vector<llvm::GlobalVariable*> globals;
  for (llvm::GlobalVariable& global : module.globals())
    if (!is_plain_memory(global.getValueType()) && !global.getName().starts_with("llvm.")) globals.push_back(&global);
  for (llvm::GlobalVariable* global : globals) {
    llvm::ArrayType* const type = bytes_like(global->getValueType(), layout);
    llvm::Constant* initializer = llvm::UndefValue::get(type);
    if (global->hasInitializer() && !llvm::isa<llvm::UndefValue>(global->getInitializer())) {
      std::vector<uint8_t> bytes(type->getNumElements(), 0);
      if (!put_bytes(global->getInitializer(), layout, bytes))
        return fail(Errc::compile_failed,
                    "constant '{}' of type {} holds values that are not known before the kernel runs",
                    global->getName(), text_of(*global->getValueType()));
      initializer = llvm::ConstantDataArray::get(module.getContext(), llvm::ArrayRef<uint8_t>(bytes));
    }
    auto* plain = new llvm::GlobalVariable(module, type, global->isConstant(), global->getLinkage(), initializer, "",
                                           global, llvm::GlobalValue::NotThreadLocal, global->getAddressSpace());
    plain->takeName(global);
    plain->setUnnamedAddr(global->getUnnamedAddr());
    plain->setAlignment(global->getAlign() ? *global->getAlign() : layout.getABITypeAlign(global->getValueType()));
    global->replaceAllUsesWith(plain);
    global->eraseFromParent();
  }
  return {};
}

void plain_alloca(llvm::AllocaInst& alloca, const llvm::DataLayout& layout) {
  if (is_plain_memory(alloca.getAllocatedType())) return;
  alloca.setAllocatedType(bytes_like(alloca.getAllocatedType(), layout));
}

void plain_gep(llvm::GetElementPtrInst& gep, const llvm::DataLayout& layout) {
  if (is_plain_memory(gep.getSourceElementType())) return;
  llvm::IRBuilder<> builder(&gep);
  llvm::Value* const offset = llvm::emitGEPOffset(&builder, layout, &gep);
  llvm::Value* const place =
      builder.CreateGEP(builder.getInt8Ty(), gep.getPointerOperand(), offset, "",
                        gep.isInBounds() ? llvm::GEPNoWrapFlags::inBounds() : llvm::GEPNoWrapFlags::none());
  place->takeName(&gep);
  gep.replaceAllUsesWith(place);
  gep.eraseFromParent();
}

/// The integer that memory holds for i1 and <N x i1>; null for other types.
llvm::IntegerType* held_bits(llvm::Type* type) {
  if (type->isIntegerTy(1)) return llvm::Type::getInt8Ty(type->getContext());
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector || !vector->getElementType()->isIntegerTy(1)) return nullptr;
  return llvm::Type::getIntNTy(type->getContext(), vector->getNumElements());
}

void plain_load(llvm::LoadInst& load) {
  llvm::IntegerType* const held = held_bits(load.getType());
  if (!held) return;
  llvm::IRBuilder<> builder(&load);
  llvm::Value* bits = builder.CreateAlignedLoad(held, load.getPointerOperand(), load.getAlign(), load.isVolatile());
  llvm::Value* const value = load.getType()->isIntegerTy(1) ? builder.CreateTrunc(bits, load.getType())
                                                            : builder.CreateBitCast(bits, load.getType());
  load.replaceAllUsesWith(value);
  load.eraseFromParent();
}

void plain_store(llvm::StoreInst& store) {
  llvm::Value* const value = store.getValueOperand();
  llvm::IntegerType* const held = held_bits(value->getType());
  if (!held) return;
  llvm::IRBuilder<> builder(&store);
  llvm::Value* const bits =
      value->getType()->isIntegerTy(1) ? builder.CreateZExt(value, held) : builder.CreateBitCast(value, held);
  builder.CreateAlignedStore(bits, store.getPointerOperand(), store.getAlign(), store.isVolatile());
  store.eraseFromParent();
}

}  // namespace

Result<void> plain_memory(PassContext& context) {
  const llvm::DataLayout& layout = context.module.getDataLayout();
  SMELT_TRY_VOID(plain_globals(context.module, layout));
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(instruction))
      plain_alloca(*alloca, layout);
    else if (auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(instruction))
      plain_gep(*gep, layout);
    else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction))
      plain_load(*load);
    else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction))
      plain_store(*store);
  }
  return {};
}

}  // namespace smelt::aot::air
