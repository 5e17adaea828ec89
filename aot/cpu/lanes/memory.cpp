// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, stores and private memory of a gang. docs/design/cpu-lanes.md 3, steps 8, 9 and 12.
//
// The address decides. The same for all lanes: one scalar access. Lanes side by side: one wide access, under the mask
// where there is one. Lanes side by side with several elements each (float4, or float3 in its four places): one wide
// access and shuffles. Anything else: lane after lane, or gather and scatter where the processor is good at them.
// What takes many instructions is a call of a function (moves.hpp) in large kernels.
#include "lanes/memory.hpp"

#include "lanes/access.hpp"
#include "lanes/prepare.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <bit>

namespace smelt::aot::cpu::lanes {
namespace {

// Longest run of elements per lane that is still worth a wide access and shuffles.
constexpr unsigned kWidestLane = 8;

Access access_of(GangContext& gang, llvm::Instruction& instruction, llvm::Value* pointer, llvm::Type* type) {
  Access access{pointer, type, layout_of(type, gang.layout), {}, 0, false, gang.shape(pointer), false, false};
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
                  gang.guards(pointer).empty();
  // An aligned block is in memory as a whole if a part of it is.
  access.whole_blocks = access.align.value() >= std::bit_ceil(count * access.layout.element_bytes) &&
                        access.stride * access.layout.element_bytes <= access.align.value();
  // Lanes that are on are aligned so. What is moved at once begins with lane 0, which may be off.
  access.align = llvm::commonAlignment(access.align, static_cast<uint64_t>(access.shape.step));
  return access;
}

Parts guarded(GangContext& gang, llvm::Value* pointer, llvm::function_ref<Parts()> fast,
              llvm::function_ref<Parts()> slow) {
  llvm::Value* holds = nullptr;
  for (llvm::Value* guard : gang.guards(pointer)) holds = holds ? gang.builder.CreateAnd(holds, guard) : guard;
  return holds ? gang.choose(holds, fast, slow) : fast();
}

// The mask once per element instead of once per lane; places from `used` up are off.
llvm::Value* spread_mask(GangContext& gang, unsigned stride, unsigned used) {
  llvm::SmallVector<int, 128> lane_of;
  const int never = static_cast<int>(gang.options.lanes);
  for (unsigned lane = 0; lane < gang.options.lanes; ++lane) {
    for (unsigned i = 0; i < stride; ++i) lane_of.push_back(i < used ? static_cast<int>(lane) : never);
  }
  llvm::Value* on = gang.mask() ? gang.mask() : gang.all_on();
  return gang.builder.CreateShuffleVector(on, llvm::Constant::getNullValue(on->getType()), lane_of);
}

llvm::Value* lane_address(GangContext& gang, const LaneAddresses& addresses, llvm::Value* lane) {
  llvm::IRBuilder<>& builder = gang.builder;
  llvm::Type* type = addresses.base ? builder.getInt64Ty() : addresses.pointer_type;
  llvm::Value* of_lane = builder.CreateLoad(type, builder.CreateInBoundsGEP(type, addresses.table, lane));
  return addresses.base ? builder.CreateGEP(builder.getInt8Ty(), addresses.base, of_lane) : of_lane;
}

/// Whether what must hold for no lane to wrap round holds for any two places in a threadgroup's memory: they are never
/// 2^31 apart. Numbers of 8 or 16 bits may wrap round inside it.
bool wraps_outside_threadgroup_memory(const llvm::Value* guard) {
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(guard);
  return compare != nullptr && compare->getOperand(0)->getType()->getScalarSizeInBits() >= 32;
}

/// Whether lanes that are off may be read like the others: lane 0 is on, so its place is in the threadgroup's memory,
/// and theirs are in it or in the room round it.
bool reads_near_lane_0(const GangContext& gang, const Access& access) {
  if (gang.options.threadgroup_memory == nullptr || !access.shape.has_offsets()) return false;
  if (gang.mask() != nullptr && gang.mask() != gang.entry_mask()) return false;
  if (llvm::getUnderlyingObject(access.pointer, 0) != gang.options.threadgroup_memory) return false;
  if (!llvm::all_of(gang.guards(access.pointer), wraps_outside_threadgroup_memory)) return false;
  const uint64_t bytes = gang.layout.getTypeStoreSize(access.type);
  constexpr uint64_t kWindow = 64;  // what a wide load may reach over the last lane
  if (bytes + kWindow > kRoundThreadgroupMemory) return false;
  const auto room = static_cast<int64_t>(kRoundThreadgroupMemory - bytes - kWindow);
  for (unsigned lane = 0; lane < gang.options.lanes; ++lane)
    if (const int64_t offset = access.shape.offset(lane); offset > room || offset < -room) return false;
  return true;
}

bool lacks_masked_moves(const GangContext& gang, const Access& access) {
  return access.layout.element_bytes < 4 && !gang.options.narrow_masked_moves;
}

// One element per lane, or several that overlap with the next lane's.
Parts load_fields(GangContext& gang, const Access& access, llvm::Value* on) {
  llvm::Type* type = gang.wide(access.layout.fields.front().type);
  llvm::Value* base = gang.scalar(access.pointer);
  Parts all;
  for (const LaneLayout::Field& field : access.layout.fields) {
    llvm::Value* at = gang.builder.CreateConstGEP1_64(gang.builder.getInt8Ty(), base, field.offset);
    all.push_back(load_wide(gang, type, at, llvm::commonAlignment(access.align, field.offset), on));
  }
  return all;
}

Parts load_block(GangContext& gang, const Access& access, llvm::Value* on) {
  auto* type = llvm::FixedVectorType::get(access.layout.fields.front().type, gang.options.lanes * access.stride);
  if (on) on = spread_mask(gang, access.stride, access.stride);
  llvm::Value* all = load_wide(gang, type, gang.scalar(access.pointer), access.align, on);
  return gang.deinterleave(all, access.stride, static_cast<unsigned>(access.layout.fields.size()));
}

void store_matrix(GangContext& gang, llvm::StoreInst& instruction) {
  llvm::Value* stored = gang.matrix(instruction.getValueOperand());
  llvm::Value* pointer = gang.scalar(instruction.getPointerOperand());
  if (gang.mask() && gang.mask() != gang.entry_mask()) {  // lanes that do not exist have nothing to keep
    llvm::Value* old = gang.builder.CreateAlignedLoad(stored->getType(), pointer, instruction.getAlign());
    stored = gang.blend_matrix(gang.mask(), stored, old);
  }
  gang.builder.CreateAlignedStore(stored, pointer, instruction.getAlign());
}

// Lanes that are off keep what they have; those that do not exist have nothing.
void store_own(GangContext& gang, const Access& access, llvm::Value* value) {
  llvm::Value* base = gang.scalar(access.pointer);
  if (gang.mask() && gang.mask() != gang.entry_mask()) {
    llvm::Value* old = load_wide(gang, value->getType(), base, access.align, nullptr);
    value = gang.blend(gang.mask(), value, old);
  }
  store_wide(gang, value, base, access.align, nullptr);
}

llvm::Value* last_lane(GangContext& gang) {
  llvm::IRBuilder<>& builder = gang.builder;
  if (!gang.mask()) return builder.getInt32(gang.options.lanes - 1);
  llvm::Value* on = gang.bits(gang.mask());
  llvm::Value* above = builder.CreateZExtOrTrunc(
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, on, builder.getTrue()), builder.getInt32Ty());
  return builder.CreateSub(builder.getInt32(gang.options.lanes - 1), above);
}

// Several lanes write one place: the last one wins, as it would if they came one after another.
void store_uniform(GangContext& gang, llvm::StoreInst& instruction) {
  llvm::IRBuilder<>& builder = gang.builder;
  llvm::Value* value = instruction.getValueOperand();
  llvm::Value* stored = nullptr;
  if (gang.shape(value).is_uniform()) {
    stored = gang.scalar(value);
  } else {
    llvm::Value* lane = last_lane(gang);
    const Parts all = gang.parts(value);
    stored = builder.CreateExtractElement(all.front(), lane);
    if (value->getType()->isVectorTy()) {
      llvm::Value* whole = llvm::PoisonValue::get(value->getType());
      for (unsigned i = 0; i < all.size(); ++i) {
        whole = builder.CreateInsertElement(whole, builder.CreateExtractElement(all[i], lane), i);
      }
      stored = whole;
    }
  }
  llvm::StoreInst* copy =
      builder.CreateAlignedStore(stored, gang.scalar(instruction.getPointerOperand()), instruction.getAlign());
  copy->setVolatile(instruction.isVolatile());
  copy->setAtomic(instruction.getOrdering(), instruction.getSyncScopeID());
}

}  // namespace

void each_lane(GangContext& gang, llvm::function_ref<void(llvm::Value*)> body, bool stays_loop) {
  llvm::IRBuilder<>& builder = gang.builder;
  llvm::LLVMContext& context = builder.getContext();
  llvm::Value* on = builder.CreateZExt(gang.bits(gang.mask()), builder.getInt32Ty());
  llvm::BasicBlock* before = builder.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(context, "lane", &gang.target);
  auto* after = llvm::BasicBlock::Create(context, "lanes.done", &gang.target);
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  llvm::PHINode* left = builder.CreatePHI(builder.getInt32Ty(), 2);
  left->addIncoming(on, before);
  body(builder.CreateZExt(builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, builder.getTrue()),
                          builder.getInt64Ty()));
  llvm::Value* next = builder.CreateAnd(left, builder.CreateSub(left, builder.getInt32(1)));
  left->addIncoming(next, builder.GetInsertBlock());
  auto* end = builder.CreateCondBr(builder.CreateICmpNE(next, builder.getInt32(0)), loop, after);
  if (stays_loop) {
    llvm::Metadata* hint = llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.disable")});
    llvm::MDNode* loop_id = llvm::MDNode::getDistinct(context, {nullptr, hint});
    loop_id->replaceOperandWith(0, loop_id);
    end->setMetadata(llvm::LLVMContext::MD_loop, loop_id);
  }
  builder.SetInsertPoint(after);
}

// i1 takes a byte in memory; vectors of i1 would be packed.
llvm::Value* load_wide(GangContext& gang, llvm::Type* type, llvm::Value* pointer, llvm::Align align, llvm::Value* on) {
  llvm::IRBuilder<>& builder = gang.builder;
  llvm::Type* element = type->getScalarType();
  if (element->isIntegerTy(1)) {
    auto* bytes = llvm::VectorType::get(builder.getInt8Ty(), llvm::cast<llvm::VectorType>(type));
    return builder.CreateTrunc(load_wide(gang, bytes, pointer, align, on), type);
  }
  if (!on) return builder.CreateAlignedLoad(type, pointer, align);
  return builder.CreateMaskedLoad(type, pointer, align, on, llvm::PoisonValue::get(type));
}

void store_wide(GangContext& gang, llvm::Value* value, llvm::Value* pointer, llvm::Align align, llvm::Value* on) {
  llvm::IRBuilder<>& builder = gang.builder;
  if (value->getType()->getScalarType()->isIntegerTy(1)) {
    auto* bytes = llvm::VectorType::get(builder.getInt8Ty(), llvm::cast<llvm::VectorType>(value->getType()));
    return store_wide(gang, builder.CreateZExt(value, bytes), pointer, align, on);
  }
  if (on) {
    builder.CreateMaskedStore(value, pointer, align, on);
  } else {
    builder.CreateAlignedStore(value, pointer, align);
  }
}

void Memory::emit_alloca(llvm::AllocaInst& alloca) {
  const uint64_t bytes = gang_.layout.getTypeAllocSize(alloca.getAllocatedType()).getFixedValue();
  // A matrix, or an array of them, exists once per gang; all else once per lane.
  const bool holds_all = gang_.shape(&alloca).is_uniform() || alloca.getMetadata(kLaneStep);
  gang_.set_scalar(&alloca, gang_.allocate(holds_all ? bytes : bytes * gang_.options.lanes));
}

// Lanes that are constants apart have a table of those for the whole module, and nothing is written to memory for the
// processor to wait for.
LaneAddresses Memory::lane_addresses(const Access& access) {
  if (access.shape.has_offsets() && !access.shape.guarded && gang_.guards(access.pointer).empty()) {
    llvm::SmallVector<uint64_t, 32> all;
    for (unsigned lane = 0; lane < gang_.options.lanes; ++lane)
      all.push_back(static_cast<uint64_t>(access.shape.offset(lane)));
    llvm::Constant* offsets = llvm::ConstantDataArray::get(builder_.getContext(), all);
    llvm::GlobalVariable*& table = offset_tables_[offsets];
    if (!table) {
      table = new llvm::GlobalVariable(*gang_.target.getParent(), offsets->getType(), /*isConstant=*/true,
                                       llvm::GlobalValue::PrivateLinkage, offsets, "lane.offsets");
      table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
      table->setAlignment(llvm::Align(64));
    }
    return {gang_.scalar(access.pointer), table, nullptr};
  }
  llvm::Value* pointers = gang_.scratch(0, sizeof(uint64_t) * gang_.options.lanes);
  builder_.CreateAlignedStore(gang_.part(access.pointer), pointers, llvm::Align(64));
  return {nullptr, pointers, access.pointer->getType()};
}

// ---- Loads ----------------------------------------------------------------------------------------------------------

void Memory::emit_load(llvm::LoadInst& load_instruction) {
  const Access access =
      access_of(gang_, load_instruction, load_instruction.getPointerOperand(), load_instruction.getType());
  if (reads_near_lane_0(gang_, access)) {
    const Parts parts = gang_.as_whole([&]() -> Parts {
      if (access.stride != 0) return load_adjacent(access);
      return pieces_to_move(gang_, access, true) ? load(access) : Parts();
    });
    if (!parts.empty()) return gang_.set_parts(&load_instruction, parts);
  }
  const auto all = [&] {
    if (access.stride == 0 && !pieces_to_move(gang_, access, true)) return load_otherwise(access);
    return guarded(
        gang_, access.pointer, [&] { return access.stride == 0 ? load(access) : load_adjacent(access); },
        [&] { return load_where_lanes_wrap(gang_, access, [&] { return load_one_by_one(access); }); });
  };
  // Masked loads of words are as fast as plain ones.
  const bool words = access.stride == 1 && access.layout.element_bytes >= 4 && access.layout.fields.size() == 1;
  gang_.set_parts(&load_instruction,
                  words || access.is_own || asks_itself(gang_, access) ? all() : gang_.by_wholeness(all));
}

Parts Memory::load_adjacent(const Access& access) {
  llvm::Type* type = gang_.wide(access.layout.fields.front().type);
  if (access.is_own) return {load_wide(gang_, type, gang_.scalar(access.pointer), access.align, nullptr)};
  if (access.stride != 1 && !access.is_block()) return load(access);
  if (access.stride != 1 && is_called_as_block(gang_, access)) return load_by_call(gang_, access, access.stride);
  const auto whole = [&](llvm::Value* on) {
    return access.stride == 1 ? load_fields(gang_, access, on) : load_block(gang_, access, on);
  };
  if (!gang_.mask() || !lacks_masked_moves(gang_, access)) return whole(gang_.mask());
  if (gang_.some_lane_is_off()) return load_one_by_one(access);
  return gang_.choose(
      gang_.every(gang_.mask()), [&] { return whole(nullptr); }, [&] { return load_one_by_one(access); });
}

Parts Memory::load(const Access& access) {
  const auto pieces = pieces_to_move(gang_, access, true);
  if (!pieces) return load_otherwise(access);
  return where_all_are_on(
      gang_, [&] { return load_pieces(gang_, access, *pieces); }, [&] { return load_otherwise(access); });
}

Parts Memory::load_otherwise(const Access& access) {
  const bool gathers = access.layout.element_bytes >= 4 && (gang_.options.native_gather || !gang_.options.calls);
  // Taken apart by the code generator where the processor has no gather: fine without a mask, one branch a lane with.
  if (!gathers || (gang_.mask() && !gang_.options.native_gather) || access.layout.fields.size() > 1) {
    return load_one_by_one(access);
  }
  llvm::Type* element = access.layout.fields.front().type;
  llvm::Value* on = gang_.mask() ? gang_.mask() : gang_.all_on();
  return {builder_.CreateMaskedGather(gang_.wide(element), gang_.part(access.pointer), access.align, on,
                                      llvm::PoisonValue::get(gang_.wide(element)))};
}

// Lane after lane into scratch memory, from which the parts are then read at once.
Parts Memory::load_one_by_one(const Access& access) {
  if (is_called(gang_, access)) return load_by_call(gang_, access, 0);
  const uint64_t bytes = gang_.layout.getTypeAllocSize(access.type).getFixedValue();
  const LaneAddresses addresses = lane_addresses(access);
  llvm::Value* values = gang_.scratch(1, bytes * gang_.options.lanes);
  // Written out for all lanes it becomes shuffles in registers, of which AVX2 needs dozens for elements of 16 bits.
  const bool stays_loop = access.layout.fields.size() > 1 && lacks_masked_moves(gang_, access);
  const auto move = [&](llvm::Value* lane) {
    llvm::Value* from = lane_address(gang_, addresses, lane);
    llvm::Value* to =
        builder_.CreateGEP(builder_.getInt8Ty(), values, builder_.CreateMul(lane, builder_.getInt64(bytes)));
    builder_.CreateStore(builder_.CreateAlignedLoad(access.type, from, access.align), to);
  };
  each_lane(gang_, move, stays_loop);
  const uint64_t stride = access.layout.is_array ? bytes / access.layout.element_bytes : 0;
  if (stride != 0 && stride <= kWidestLane && bytes % access.layout.element_bytes == 0) {
    llvm::Type* element = access.layout.fields.front().type;
    auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(gang_.options.lanes * stride));
    llvm::Value* all = load_wide(gang_, type, values, llvm::Align(64), nullptr);
    if (stride == 1) return {all};
    return gang_.deinterleave(all, static_cast<unsigned>(stride), static_cast<unsigned>(access.layout.fields.size()));
  }
  Parts result;
  for (const LaneLayout::Field& field : access.layout.fields) {
    llvm::Value* part_of = llvm::PoisonValue::get(gang_.wide(field.type));
    for (unsigned lane = 0; lane < gang_.options.lanes; ++lane) {
      llvm::Value* at = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), values, lane * bytes + field.offset);
      part_of = builder_.CreateInsertElement(part_of, builder_.CreateLoad(field.type, at), lane);
    }
    result.push_back(part_of);
  }
  return result;
}

// ---- Stores ---------------------------------------------------------------------------------------------------------

void Memory::emit_store(llvm::StoreInst& store_instruction) {
  llvm::Value* value = store_instruction.getValueOperand();
  llvm::Value* pointer = store_instruction.getPointerOperand();
  if (is_matrix_type(value->getType())) return store_matrix(gang_, store_instruction);
  if (gang_.shape(pointer).is_uniform()) return store_uniform(gang_, store_instruction);
  const Access access = access_of(gang_, store_instruction, pointer, value->getType());
  const Parts values = gang_.parts(value);
  if (access.is_own) return store_own(gang_, access, values.front());
  const auto adjacent = [&] {
    store_adjacent(access, values);
    return Parts();
  };
  const auto one_by_one = [&] {
    store_where_lanes_wrap(gang_, access, values, [&] { store_one_by_one(access, values); });
    return Parts();
  };
  const auto all = [&] {
    const auto apart = [&] {
      store(access, values);
      return Parts();
    };
    if (access.stride == 0 && !pieces_to_move(gang_, access, false)) {
      store_otherwise(access, values);
      return Parts();
    }
    return access.stride == 0 ? guarded(gang_, pointer, apart, one_by_one)
                              : guarded(gang_, pointer, adjacent, one_by_one);
  };
  if (asks_itself(gang_, access))
    all();
  else
    gang_.by_wholeness(all);
}

void Memory::store_adjacent(const Access& access, const Parts& values) {
  const auto count = static_cast<unsigned>(values.size());
  llvm::Value* base = gang_.scalar(access.pointer);
  if (count > 1 && count <= access.stride && is_called_as_block(gang_, access))
    return store_by_call(gang_, access, values, access.stride);
  if (access.stride != count) {
    if (count < access.stride && pieces_to_move(gang_, access, false)) return store(access, values);
    // Places between the lanes are not ours to write, and overlapping lanes must be written in order.
    if (count > access.stride || lacks_masked_moves(gang_, access)) return store_one_by_one(access, values);
    return store_wide(gang_, gang_.interleave(values, access.stride), base, access.align,
                      spread_mask(gang_, access.stride, count));
  }
  llvm::Value* joined = count == 1 ? values.front() : gang_.interleave(values, count);
  if (gang_.mask() && lacks_masked_moves(gang_, access)) {
    if (gang_.some_lane_is_off()) return store_one_by_one(access, values);
    gang_.choose(
        gang_.every(gang_.mask()),
        [&] {
          store_wide(gang_, joined, base, access.align, nullptr);
          return Parts();
        },
        [&] {
          store_one_by_one(access, values);
          return Parts();
        });
    return;
  }
  llvm::Value* on = !gang_.mask() ? nullptr : count == 1 ? gang_.mask() : spread_mask(gang_, count, count);
  store_wide(gang_, joined, base, access.align, on);
}

void Memory::store(const Access& access, const Parts& values) {
  const auto pieces = pieces_to_move(gang_, access, false);
  if (!pieces) return store_otherwise(access, values);
  where_all_are_on(
      gang_,
      [&] {
        store_pieces(gang_, access, *pieces, values);
        return Parts();
      },
      [&] {
        store_otherwise(access, values);
        return Parts();
      });
}

void Memory::store_otherwise(const Access& access, const Parts& values) {
  const bool scatters =
      access.layout.element_bytes >= 4 && values.size() == 1 && (gang_.options.native_gather || !gang_.options.calls);
  if (!scatters || (gang_.mask() && !gang_.options.native_gather)) return store_one_by_one(access, values);
  builder_.CreateMaskedScatter(values.front(), gang_.part(access.pointer), access.align,
                               gang_.mask() ? gang_.mask() : gang_.all_on());
}

void Memory::store_one_by_one(const Access& access, const Parts& values) {
  if (is_called(gang_, access)) return store_by_call(gang_, access, values, 0);
  const LaneAddresses addresses = lane_addresses(access);
  // Each part has its own row of scratch memory.
  llvm::SmallVector<llvm::Value*, 4> rows;
  for (unsigned i = 0; i < values.size(); ++i) {
    const uint64_t bytes =
        gang_.options.lanes * gang_.layout.getTypeStoreSize(access.layout.fields[i].type).getFixedValue();
    if (rows.empty()) rows.push_back(gang_.scratch(1, 16 * gang_.options.lanes * values.size()));
    if (i > 0) rows.push_back(builder_.CreateConstGEP1_64(builder_.getInt8Ty(), rows[0], i * 16 * gang_.options.lanes));
    store_wide(gang_, values[i], rows[i], llvm::Align(std::bit_ceil(bytes) >= 64 ? 64 : 16), nullptr);
  }
  each_lane(gang_, [&](llvm::Value* lane) {
    llvm::Value* to = lane_address(gang_, addresses, lane);
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
