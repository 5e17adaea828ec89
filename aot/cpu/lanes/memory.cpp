// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, stores and private memory of a gang. docs/design/cpu-lanes.md 3, steps 8, 9 and 12.
//
// The address decides. The same for all lanes: one scalar access. Lanes side by side: one wide access, under the mask
// where there is one. Lanes side by side with several elements each (float4, or float3 in its four places): one wide
// access and shuffles. Anything else: lane after lane, or gather and scatter where the processor is good at them.
// What takes many instructions is a call of a function (moves.hpp) in large kernels.
#include "lanes/access.hpp"
#include "lanes/prepare.hpp"
#include "work_item/work_item.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <bit>

namespace smelt::aot::cpu::lanes {
namespace {

// Longest run of elements per lane that is still worth a wide access and shuffles.
constexpr unsigned kWidestLane = 8;

}  // namespace

llvm::AllocaInst* Emitter::memory(uint64_t bytes) {
  llvm::BasicBlock& entry = target_.getEntryBlock();
  llvm::IRBuilder<> top(&entry, entry.begin());
  llvm::AllocaInst* made = top.CreateAlloca(llvm::ArrayType::get(top.getInt8Ty(), bytes));
  made->setAlignment(llvm::Align(64));
  return made;
}

llvm::AllocaInst* Emitter::scratch(unsigned number, uint64_t bytes) {
  const uint64_t rounded = std::bit_ceil(bytes);
  llvm::AllocaInst*& made = scratch_[rounded * 4 + number];
  if (made) return made;
  made = memory(rounded);
  made->setMetadata(kScratch, llvm::MDNode::get(context_, {}));
  return made;
}

void Emitter::emit_alloca(llvm::AllocaInst& alloca) {
  const uint64_t bytes = layout_.getTypeAllocSize(alloca.getAllocatedType()).getFixedValue();
  // A matrix, or an array of them, exists once per gang; all else once per lane.
  const bool holds_all = shape(&alloca).is_uniform() || alloca.getMetadata(kLaneStep);
  scalars_[&alloca] = memory(holds_all ? bytes : bytes * options_.lanes);
}

Emitter::Access Emitter::access_of(llvm::Instruction& instruction, llvm::Value* pointer, llvm::Type* type) {
  Access access{pointer, type, layout_of(type, layout_), {}, 0, false, shape(pointer), false, false};
  access.align = llvm::isa<llvm::LoadInst>(instruction) ? llvm::cast<llvm::LoadInst>(instruction).getAlign()
                                                        : llvm::cast<llvm::StoreInst>(instruction).getAlign();
  const auto bytes = static_cast<int64_t>(access.layout.element_bytes);
  const auto count = static_cast<unsigned>(access.layout.fields.size());
  if (!access.layout.is_array || !access.shape.is_linear() || access.shape.step <= 0) return access;
  if (access.shape.step % bytes != 0 || access.shape.step / bytes > kWidestLane) return access;
  access.stride = static_cast<unsigned>(access.shape.step / bytes);
  const auto* object = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer, 0));
  access.is_private = object != nullptr;
  access.is_own = access.stride == 1 && count == 1 && object != nullptr && object->getMetadata(kLaneStep) != nullptr &&
                  !guards_.contains(pointer);
  // An aligned block is in memory as a whole if a part of it is.
  access.whole_blocks = access.align.value() >= std::bit_ceil(count * access.layout.element_bytes) &&
                        access.stride * access.layout.element_bytes <= access.align.value();
  return access;
}

Parts Emitter::guarded(llvm::Value* pointer, llvm::function_ref<Parts()> fast, llvm::function_ref<Parts()> slow) {
  const auto known = guards_.find(pointer);
  if (known == guards_.end()) return fast();
  llvm::Value* holds = nullptr;
  for (llvm::Value* guard : known->second) holds = holds ? builder_.CreateAnd(holds, guard) : guard;
  return choose(holds, /*first_is_likely=*/true, fast, slow);
}

// Lanes that are constants apart have a table of those for the whole module, and nothing is written to memory for the
// processor to wait for.
Emitter::LaneAddresses Emitter::lane_addresses(const Access& access) {
  if (access.shape.has_offsets() && !access.shape.guarded && !guards_.contains(access.pointer)) {
    llvm::SmallVector<uint64_t, 32> all;
    for (unsigned lane = 0; lane < options_.lanes; ++lane)
      all.push_back(static_cast<uint64_t>(access.shape.offset(lane)));
    llvm::Constant* offsets = llvm::ConstantDataArray::get(context_, all);
    llvm::GlobalVariable*& table = offset_tables_[offsets];
    if (!table) {
      table = new llvm::GlobalVariable(*target_.getParent(), offsets->getType(), /*isConstant=*/true,
                                       llvm::GlobalValue::PrivateLinkage, offsets, "lane.offsets");
      table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
      table->setAlignment(llvm::Align(64));
    }
    return {scalar(access.pointer), table, nullptr};
  }
  llvm::Value* pointers = scratch(0, sizeof(uint64_t) * options_.lanes);
  builder_.CreateAlignedStore(part(access.pointer), pointers, llvm::Align(64));
  return {nullptr, pointers, access.pointer->getType()};
}

llvm::Value* Emitter::lane_address(const LaneAddresses& addresses, llvm::Value* lane) {
  llvm::Type* type = addresses.base ? builder_.getInt64Ty() : addresses.pointer_type;
  llvm::Value* of_lane = builder_.CreateLoad(type, builder_.CreateInBoundsGEP(type, addresses.table, lane));
  return addresses.base ? builder_.CreateGEP(builder_.getInt8Ty(), addresses.base, of_lane) : of_lane;
}

// The mask once per element instead of once per lane; places from `used` up are off.
llvm::Value* Emitter::spread_mask(unsigned stride, unsigned used) {
  llvm::SmallVector<int, 128> lane_of;
  const int never = static_cast<int>(options_.lanes);
  for (unsigned lane = 0; lane < options_.lanes; ++lane) {
    for (unsigned i = 0; i < stride; ++i) lane_of.push_back(i < used ? static_cast<int>(lane) : never);
  }
  llvm::Value* on = mask() ? mask() : all_on();
  return builder_.CreateShuffleVector(on, llvm::Constant::getNullValue(on->getType()), lane_of);
}

// i1 takes a byte in memory; vectors of i1 would be packed.
llvm::Value* Emitter::load_wide(llvm::Type* type, llvm::Value* pointer, llvm::Align align, llvm::Value* on) {
  llvm::Type* element = type->getScalarType();
  if (element->isIntegerTy(1)) {
    auto* bytes = llvm::VectorType::get(builder_.getInt8Ty(), llvm::cast<llvm::VectorType>(type));
    return builder_.CreateTrunc(load_wide(bytes, pointer, align, on), type);
  }
  if (!on) return builder_.CreateAlignedLoad(type, pointer, align);
  return builder_.CreateMaskedLoad(type, pointer, align, on, llvm::PoisonValue::get(type));
}

void Emitter::store_wide(llvm::Value* value, llvm::Value* pointer, llvm::Align align, llvm::Value* on) {
  if (value->getType()->getScalarType()->isIntegerTy(1)) {
    auto* bytes = llvm::VectorType::get(builder_.getInt8Ty(), llvm::cast<llvm::VectorType>(value->getType()));
    return store_wide(builder_.CreateZExt(value, bytes), pointer, align, on);
  }
  if (on) {
    builder_.CreateMaskedStore(value, pointer, align, on);
  } else {
    builder_.CreateAlignedStore(value, pointer, align);
  }
}

// ---- Loads ----------------------------------------------------------------------------------------------------------

void Emitter::emit_load(llvm::LoadInst& load_instruction) {
  const Access access = access_of(load_instruction, load_instruction.getPointerOperand(), load_instruction.getType());
  const auto all = [&] {
    if (access.stride == 0 && !pieces_to_move(access, true)) return load_otherwise(access);
    return guarded(
        access.pointer, [&] { return access.stride == 0 ? load(access) : load_adjacent(access); },
        [&] { return load_one_by_one(access); });
  };
  // Masked loads of words are as fast as plain ones.
  const bool words = access.stride == 1 && access.layout.element_bytes >= 4 && access.layout.fields.size() == 1;
  parts_[&load_instruction] = words || access.is_own || asks_itself(access) ? all() : by_wholeness(all);
}

Parts Emitter::load_adjacent(const Access& access) {
  const auto count = static_cast<unsigned>(access.layout.fields.size());
  llvm::Type* element = access.layout.fields.front().type;
  llvm::Value* base = scalar(access.pointer);
  if (access.is_own) return {load_wide(wide(element), base, access.align, nullptr)};
  if (access.stride == 1) {
    // One element per lane, or several that overlap with the next lane's.
    if (mask() && access.layout.element_bytes < 4 && !options_.narrow_masked_moves) {
      if (here_ == Here::not_all) return load_one_by_one(access);
      return choose(
          every(mask()), /*first_is_likely=*/true,
          [&] {
            Parts all;
            for (const LaneLayout::Field& field : access.layout.fields) {
              llvm::Value* at = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base, field.offset);
              all.push_back(load_wide(wide(element), at, llvm::commonAlignment(access.align, field.offset), nullptr));
            }
            return all;
          },
          [&] { return load_one_by_one(access); });
    }
    Parts all;
    for (const LaneLayout::Field& field : access.layout.fields) {
      llvm::Value* at = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base, field.offset);
      all.push_back(load_wide(wide(element), at, llvm::commonAlignment(access.align, field.offset), mask()));
    }
    return all;
  }
  if (!access.is_block()) return load(access);
  if (is_called_as_block(access)) return load_by_call(access, access.stride);
  auto* type = llvm::FixedVectorType::get(element, options_.lanes * access.stride);
  if (mask() && access.layout.element_bytes < 4 && !options_.narrow_masked_moves) {
    if (here_ == Here::not_all) return load_one_by_one(access);
    return choose(
        every(mask()), /*first_is_likely=*/true,
        [&] { return deinterleave(load_wide(type, base, access.align, nullptr), access.stride, count); },
        [&] { return load_one_by_one(access); });
  }
  llvm::Value* on = mask() ? spread_mask(access.stride, access.stride) : nullptr;
  return deinterleave(load_wide(type, base, access.align, on), access.stride, count);
}

Parts Emitter::load(const Access& access) {
  const auto pieces = pieces_to_move(access, true);
  if (!pieces) return load_otherwise(access);
  return where_all_are_on([&] { return load_pieces(access, *pieces); }, [&] { return load_otherwise(access); });
}

Parts Emitter::load_otherwise(const Access& access) {
  const bool gathers = access.layout.element_bytes >= 4 && (options_.native_gather || !options_.calls);
  // Taken apart by the code generator where the processor has no gather: fine without a mask, one branch a lane with.
  if (!gathers || (mask() && !options_.native_gather) || access.layout.fields.size() > 1) {
    return load_one_by_one(access);
  }
  llvm::Type* element = access.layout.fields.front().type;
  llvm::Value* on = mask() ? mask() : all_on();
  return {builder_.CreateMaskedGather(wide(element), part(access.pointer), access.align, on,
                                      llvm::PoisonValue::get(wide(element)))};
}

// Lane after lane into scratch memory, from which the parts are then read at once.
Parts Emitter::load_one_by_one(const Access& access) {
  if (is_called(access)) return load_by_call(access, 0);
  const uint64_t bytes = layout_.getTypeAllocSize(access.type).getFixedValue();
  const LaneAddresses addresses = lane_addresses(access);
  llvm::Value* values = scratch(1, bytes * options_.lanes);
  // Written out for all lanes it becomes shuffles in registers, of which AVX2 needs dozens for elements of 16 bits.
  const bool stays_loop =
      access.layout.fields.size() > 1 && access.layout.element_bytes < 4 && !options_.narrow_masked_moves;
  const auto move = [&](llvm::Value* lane) {
    llvm::Value* from = lane_address(addresses, lane);
    llvm::Value* to =
        builder_.CreateGEP(builder_.getInt8Ty(), values, builder_.CreateMul(lane, builder_.getInt64(bytes)));
    builder_.CreateStore(builder_.CreateAlignedLoad(access.type, from, access.align), to);
  };
  each_lane(mask(), move, stays_loop);
  const uint64_t stride = access.layout.is_array ? bytes / access.layout.element_bytes : 0;
  if (stride != 0 && stride <= kWidestLane && bytes % access.layout.element_bytes == 0) {
    llvm::Type* element = access.layout.fields.front().type;
    auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(options_.lanes * stride));
    llvm::Value* all = load_wide(type, values, llvm::Align(64), nullptr);
    if (stride == 1) return {all};
    return deinterleave(all, static_cast<unsigned>(stride), static_cast<unsigned>(access.layout.fields.size()));
  }
  Parts result;
  for (const LaneLayout::Field& field : access.layout.fields) {
    llvm::Value* part_of = llvm::PoisonValue::get(wide(field.type));
    for (unsigned lane = 0; lane < options_.lanes; ++lane) {
      llvm::Value* at = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), values, lane * bytes + field.offset);
      part_of = builder_.CreateInsertElement(part_of, builder_.CreateLoad(field.type, at), lane);
    }
    result.push_back(part_of);
  }
  return result;
}

// ---- Stores ---------------------------------------------------------------------------------------------------------

void Emitter::emit_store(llvm::StoreInst& store_instruction) {
  llvm::Value* value = store_instruction.getValueOperand();
  llvm::Value* pointer = store_instruction.getPointerOperand();
  if (is_matrix_type(value->getType())) {
    llvm::Value* stored = matrix(value);
    if (mask() && mask() != entry_mask_) {  // lanes that do not exist have nothing to keep
      llvm::Value* old = builder_.CreateAlignedLoad(value->getType(), scalar(pointer), store_instruction.getAlign());
      stored = blend_matrix(mask(), stored, old);
    }
    builder_.CreateAlignedStore(stored, scalar(pointer), store_instruction.getAlign());
    return;
  }
  if (shape(pointer).is_uniform()) return store_uniform(store_instruction);
  const Access access = access_of(store_instruction, pointer, value->getType());
  const Parts values = parts(value);
  if (access.is_own) return store_own(access, values.front());
  const auto adjacent = [&] {
    store_adjacent(access, values);
    return Parts();
  };
  const auto one_by_one = [&] {
    store_one_by_one(access, values);
    return Parts();
  };
  const auto all = [&] {
    const auto apart = [&] {
      store(access, values);
      return Parts();
    };
    if (access.stride == 0 && !pieces_to_move(access, false)) {
      store_otherwise(access, values);
      return Parts();
    }
    return access.stride == 0 ? guarded(pointer, apart, one_by_one) : guarded(pointer, adjacent, one_by_one);
  };
  if (asks_itself(access))
    all();
  else
    by_wholeness(all);
}

// Lanes that are off keep what they have; those that do not exist have nothing.
void Emitter::store_own(const Access& access, llvm::Value* value) {
  llvm::Value* base = scalar(access.pointer);
  if (mask() && mask() != entry_mask_) {
    llvm::Value* old = load_wide(value->getType(), base, access.align, nullptr);
    value = blend(mask(), value, old);
  }
  store_wide(value, base, access.align, nullptr);
}

// Several lanes write one place: the last one wins, as it would if they came one after another.
void Emitter::store_uniform(llvm::StoreInst& instruction) {
  llvm::Value* value = instruction.getValueOperand();
  llvm::Value* stored = nullptr;
  if (shape(value).is_uniform()) {
    stored = scalar(value);
  } else {
    llvm::Value* lane = last_lane(mask());
    const Parts all = parts(value);
    stored = builder_.CreateExtractElement(all.front(), lane);
    if (value->getType()->isVectorTy()) {
      llvm::Value* whole = llvm::PoisonValue::get(value->getType());
      for (unsigned i = 0; i < all.size(); ++i) {
        whole = builder_.CreateInsertElement(whole, builder_.CreateExtractElement(all[i], lane), i);
      }
      stored = whole;
    }
  }
  llvm::StoreInst* copy =
      builder_.CreateAlignedStore(stored, scalar(instruction.getPointerOperand()), instruction.getAlign());
  copy->setVolatile(instruction.isVolatile());
  copy->setAtomic(instruction.getOrdering(), instruction.getSyncScopeID());
}

void Emitter::store_adjacent(const Access& access, const Parts& values) {
  const auto count = static_cast<unsigned>(values.size());
  llvm::Value* base = scalar(access.pointer);
  const bool narrow_elements = access.layout.element_bytes < 4 && !options_.narrow_masked_moves;
  if (count > 1 && count <= access.stride && is_called_as_block(access))
    return store_by_call(access, values, access.stride);
  if (access.stride != count) {
    if (count < access.stride && pieces_to_move(access, false)) return store(access, values);
    // Places between the lanes are not ours to write, and overlapping lanes must be written in order.
    if (count > access.stride || narrow_elements) return store_one_by_one(access, values);
    return store_wide(interleave(values, access.stride), base, access.align, spread_mask(access.stride, count));
  }
  llvm::Value* joined = count == 1 ? values.front() : interleave(values, count);
  if (mask() && narrow_elements) {
    if (here_ == Here::not_all) return store_one_by_one(access, values);
    choose(
        every(mask()), /*first_is_likely=*/true,
        [&] {
          store_wide(joined, base, access.align, nullptr);
          return Parts();
        },
        [&] {
          store_one_by_one(access, values);
          return Parts();
        });
    return;
  }
  llvm::Value* on = !mask() ? nullptr : count == 1 ? mask() : spread_mask(count, count);
  store_wide(joined, base, access.align, on);
}

void Emitter::store(const Access& access, const Parts& values) {
  const auto pieces = pieces_to_move(access, false);
  if (!pieces) return store_otherwise(access, values);
  where_all_are_on(
      [&] {
        store_pieces(access, *pieces, values);
        return Parts();
      },
      [&] {
        store_otherwise(access, values);
        return Parts();
      });
}

void Emitter::store_otherwise(const Access& access, const Parts& values) {
  const bool scatters =
      access.layout.element_bytes >= 4 && values.size() == 1 && (options_.native_gather || !options_.calls);
  if (!scatters || (mask() && !options_.native_gather)) return store_one_by_one(access, values);
  builder_.CreateMaskedScatter(values.front(), part(access.pointer), access.align, mask() ? mask() : all_on());
}

void Emitter::store_one_by_one(const Access& access, const Parts& values) {
  if (is_called(access)) return store_by_call(access, values, 0);
  const LaneAddresses addresses = lane_addresses(access);
  // Each part has its own row of scratch memory.
  llvm::SmallVector<llvm::Value*, 4> rows;
  for (unsigned i = 0; i < values.size(); ++i) {
    const uint64_t bytes = options_.lanes * layout_.getTypeStoreSize(access.layout.fields[i].type).getFixedValue();
    if (rows.empty()) rows.push_back(scratch(1, 16 * options_.lanes * values.size()));
    if (i > 0) rows.push_back(builder_.CreateConstGEP1_64(builder_.getInt8Ty(), rows[0], i * 16 * options_.lanes));
    store_wide(values[i], rows[i], llvm::Align(std::bit_ceil(bytes) >= 64 ? 64 : 16), nullptr);
  }
  each_lane(mask(), [&](llvm::Value* lane) {
    llvm::Value* to = lane_address(addresses, lane);
    for (unsigned i = 0; i < values.size(); ++i) {
      const LaneLayout::Field& field = access.layout.fields[i];
      // A byte holds an i1: read it as one.
      llvm::Type* held = field.type->isIntegerTy(1) ? builder_.getInt8Ty() : field.type;
      llvm::Value* value = builder_.CreateLoad(held, builder_.CreateGEP(held, rows[i], lane));
      builder_.CreateAlignedStore(value, builder_.CreateConstGEP1_64(builder_.getInt8Ty(), to, field.offset),
                                  llvm::commonAlignment(access.align, field.offset));
    }
  });
}

}  // namespace smelt::aot::cpu::lanes
