// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lanes of a simdgroup do together, as operations on registers. What each one means is written down once, in
// lower/collectives.hpp; here lanes that are off are kept out of it. docs/design/cpu-lanes.md 3, step 10.
#include "lanes/emit.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::cpu::lanes {
namespace {

// The constant lanes that a shuffle reads, or nothing when they are only known at run time.
std::optional<llvm::SmallVector<int, 32>> constant_lanes(llvm::Value* sources) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(sources);
  if (!constant) return std::nullopt;
  llvm::SmallVector<int, 32> lanes;
  const auto count = llvm::cast<llvm::FixedVectorType>(sources->getType())->getNumElements();
  for (unsigned i = 0; i < count; ++i) {
    auto* lane = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(i));
    if (!lane) return std::nullopt;
    lanes.push_back(static_cast<int>(lane->getZExtValue() % kSimdWidth));
  }
  return lanes;
}

}  // namespace

void Emitter::emit_collective(llvm::CallInst& call, const Collective& collective) {
  switch (collective.kind) {
    case CollectiveKind::threadgroup_barrier: {
      // A site of the gang: it keeps its number.
      llvm::Instruction* copy = call.clone();
      for (llvm::Use& use : copy->operands()) {
        if (!llvm::isa<llvm::Function>(use)) use.set(of_first_lane(use));
      }
      builder_.Insert(copy);
      return;
    }
    case CollectiveKind::simdgroup_barrier:
    case CollectiveKind::async_wait:
      return;  // lanes never run ahead of each other
    case CollectiveKind::ballot:
    case CollectiveKind::all:
    case CollectiveKind::any:
    case CollectiveKind::is_first:
    case CollectiveKind::active_threads_mask:
      return emit_vote(call, collective);
    case CollectiveKind::async_copy_1d:
    case CollectiveKind::async_copy_2d: {
      llvm::SmallVector<llvm::Value*, 8> operands;
      for (llvm::Value* operand : call.args()) operands.push_back(of_first_lane(operand));
      scalars_[&call] = emit_async_copy(builder_, collective, operands);
      return;
    }
    default:
      break;
  }
  if (is_matrix(collective.kind)) return emit_matrix_operation(call, collective);
  Parts results;
  if (is_lane_move(collective.kind)) {
    results = move_lanes(call, collective);
  } else {
    for (llvm::Value* one : parts(call.getArgOperand(0))) {
      llvm::Value* widened = emit_widen(builder_, collective, one);
      widened = active_or(widened, identity(collective, widened->getType()));
      if (is_prefix(collective.kind)) {
        results.push_back(emit_narrow(builder_, collective, prefix(collective, widened)));
      } else if (collective.group_width == kQuadWidth) {
        results.push_back(emit_narrow(builder_, collective, reduce_quads(collective, widened)));
      } else {
        results.push_back(emit_narrow(builder_, collective, reduce(collective, widened)));
      }
    }
  }
  if (!shape(&call).is_uniform()) {
    parts_[&call] = std::move(results);
    return;
  }
  // One scalar per component: put them together to the thread's own type.
  llvm::Value* whole = results.front();
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(call.getType())) {
    whole = llvm::PoisonValue::get(vector);
    for (unsigned i = 0; i < results.size(); ++i) whole = builder_.CreateInsertElement(whole, results[i], i);
  }
  scalars_[&call] = whole;
}

llvm::Value* Emitter::active_or(llvm::Value* value, llvm::Value* neutral) {
  return mask() ? builder_.CreateSelect(mask(), value, neutral, "active") : value;
}

// Halves, quarters, ...: what the code generator would make of llvm.vector.reduce, for any operation.
llvm::Value* Emitter::reduce(const Collective& collective, llvm::Value* widened) {
  for (unsigned half = kSimdWidth / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 16> low;
    llvm::SmallVector<int, 16> high;
    for (unsigned i = 0; i < half; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(half + i));
    }
    widened = emit_combine(builder_, collective, builder_.CreateShuffleVector(widened, low),
                           builder_.CreateShuffleVector(widened, high));
  }
  return builder_.CreateExtractElement(widened, uint64_t{0});
}

llvm::Value* Emitter::reduce_quads(const Collective& collective, llvm::Value* widened) {
  for (unsigned distance : {1u, 2u}) {
    llvm::Value* other = shuffle(widened, [&](unsigned lane) { return static_cast<int>(lane ^ distance); });
    widened = emit_combine(builder_, collective, widened, other);
  }
  return widened;
}

llvm::Value* Emitter::prefix(const Collective& collective, llvm::Value* widened) {
  const unsigned width = collective.group_width;
  llvm::Value* neutral = identity(collective, widened->getType());
  const auto below = [&](unsigned distance) {
    llvm::SmallVector<int, 32> from;
    for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
      from.push_back(static_cast<int>(lane % width >= distance ? lane - distance : kSimdWidth));
    }
    return builder_.CreateShuffleVector(widened, neutral, from);
  };
  const bool exclusive = collective.kind == CollectiveKind::prefix_exclusive_sum ||
                         collective.kind == CollectiveKind::prefix_exclusive_product;
  if (exclusive) widened = below(1);
  for (unsigned distance = 1; distance < width; distance *= 2) {
    widened = emit_combine(builder_, collective, below(distance), widened);
  }
  return widened;
}

// Lanes of `values` chosen at run time, by way of memory.
llvm::Value* Emitter::pick_lanes(llvm::Value* values, llvm::Value* sources) {
  llvm::Type* element = values->getType()->getScalarType();
  if (element->isIntegerTy(1)) {
    llvm::Value* bytes = builder_.CreateZExt(values, wide(builder_.getInt8Ty()));
    return builder_.CreateTrunc(pick_lanes(bytes, sources), values->getType());
  }
  llvm::Value* held = scratch(1, layout_.getTypeAllocSize(element).getFixedValue() * kSimdWidth);
  builder_.CreateAlignedStore(values, held, llvm::Align(64));
  llvm::Value* index =
      builder_.CreateZExt(builder_.CreateAnd(sources, llvm::ConstantInt::get(sources->getType(), kSimdWidth - 1)),
                          wide(builder_.getInt64Ty()));
  const uint64_t bytes = layout_.getTypeAllocSize(element).getFixedValue();
  if (bytes >= 4 && options_.native_gather) {
    return builder_.CreateMaskedGather(values->getType(), builder_.CreateGEP(element, held, index),
                                       layout_.getABITypeAlign(element), all_on());
  }
  llvm::Value* result = llvm::PoisonValue::get(values->getType());
  for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
    llvm::Value* from = builder_.CreateGEP(element, held, builder_.CreateExtractElement(index, lane));
    result = builder_.CreateInsertElement(result, builder_.CreateLoad(element, from), lane);
  }
  return result;
}

Parts Emitter::move_lanes(llvm::CallInst& call, const Collective& collective) {
  Parts data = parts(call.getArgOperand(0));
  if (collective.kind != CollectiveKind::broadcast_first) {
    for (llvm::Value*& one : data) one = active_or(one, llvm::Constant::getNullValue(one->getType()));
  }
  Parts result;
  const bool quads = collective.group_width == kQuadWidth;
  if (shape(&call).is_uniform()) {
    llvm::Value* lane = collective.kind == CollectiveKind::broadcast_first
                            ? first_lane(mask())
                            : builder_.CreateZExtOrTrunc(scalar(call.getArgOperand(1)), builder_.getInt32Ty());
    lane = builder_.CreateAnd(lane, builder_.getInt32(kSimdWidth - 1));
    for (llvm::Value* one : data) result.push_back(builder_.CreateExtractElement(one, lane));
    return result;
  }
  llvm::Type* index_type = wide(builder_.getInt32Ty());
  llvm::Value* lane = step_vector(builder_.getInt32Ty(), 1);
  if (collective.kind == CollectiveKind::broadcast_first) {
    // Of each quad: the lowest of its lanes that is on.
    llvm::Value* sources = builder_.CreateAnd(lane, llvm::ConstantInt::get(index_type, ~uint64_t{3} & 0xffffffff));
    if (quads && mask()) {
      for (unsigned candidate = kQuadWidth; candidate-- > 0;) {
        const auto of_quad = [&](unsigned at) { return static_cast<int>((at & ~3u) + candidate); };
        llvm::Value* is_on = shuffle(mask(), of_quad);
        llvm::Value* there = shuffle(lane, of_quad);
        sources = builder_.CreateSelect(is_on, there, sources);
      }
    }
    const auto known = constant_lanes(sources);
    for (llvm::Value* one : data) {
      result.push_back(known ? builder_.CreateShuffleVector(one, *known) : pick_lanes(one, sources));
    }
    return result;
  }
  const bool fills = collective.kind == CollectiveKind::fill_up || collective.kind == CollectiveKind::fill_down;
  llvm::Value* amount = part(call.getArgOperand(fills ? 2 : 1));
  llvm::Value* modulo = fills ? part(call.getArgOperand(3)) : nullptr;
  const SourceLane source = emit_source_lane(builder_, collective, lane, amount, modulo);
  const auto known = constant_lanes(source.index);
  const Parts fill = fills ? parts(call.getArgOperand(1)) : Parts();
  const auto moved = [&](llvm::Value* values) {
    llvm::Value* from_row = known ? broadcast_from_row(values, *known) : nullptr;
    if (from_row) return from_row;
    return known ? builder_.CreateShuffleVector(values, *known) : pick_lanes(values, source.index);
  };
  llvm::Value* source_is_on = fills && mask() ? moved(mask()) : nullptr;
  for (unsigned i = 0; i < data.size(); ++i) {
    llvm::Value* picked = moved(data[i]);
    if (fills) {
      llvm::Value* filled = moved(fill[i]);
      if (source_is_on) filled = builder_.CreateSelect(source_is_on, filled, fill[i]);
      picked = builder_.CreateSelect(source.from_fill, filled, picked);
    }
    result.push_back(picked);
  }
  return result;
}

void Emitter::emit_vote(llvm::CallInst& call, const Collective& collective) {
  const auto off = [&](bool value) { return llvm::ConstantInt::get(wide(builder_.getInt1Ty()), value ? 1 : 0); };
  const bool quads = collective.group_width == kQuadWidth;
  const bool is_all = collective.kind == CollectiveKind::all;
  llvm::Value* vote = nullptr;
  if (call.arg_size() > 0) {
    vote = active_or(part(call.getArgOperand(0)), off(is_all));
  } else {
    vote = mask() ? mask() : all_on();
  }
  if (collective.kind == CollectiveKind::is_first) {
    llvm::Value* lane = step_vector(builder_.getInt32Ty(), 1);
    if (!quads) {
      parts_[&call] = {builder_.CreateICmpEQ(lane, splat(first_lane(mask())))};
      return;
    }
    // On, and no lane below it in the quad is.
    llvm::Value* first = all_on();
    for (unsigned distance = 1; distance < kQuadWidth; ++distance) {
      llvm::SmallVector<int, 32> from;
      for (unsigned at = 0; at < kSimdWidth; ++at) {
        from.push_back(static_cast<int>(at % kQuadWidth >= distance ? at - distance : kSimdWidth));
      }
      llvm::Value* below = builder_.CreateShuffleVector(vote, off(false), from);
      first = builder_.CreateSelect(below, off(false), first);
    }
    parts_[&call] = {first};
    return;
  }
  const bool is_mask =
      collective.kind == CollectiveKind::ballot || collective.kind == CollectiveKind::active_threads_mask;
  if (!quads) {
    scalars_[&call] = is_mask  ? builder_.CreateZExtOrTrunc(bits(vote), call.getType())
                      : is_all ? every(vote)
                               : any(vote);
    return;
  }
  if (is_mask) {
    // Each lane gets the four bits of its quad, lowest lane first.
    llvm::Type* type = wide(call.getType());
    llvm::Value* ballot = llvm::Constant::getNullValue(type);
    for (unsigned i = 0; i < kQuadWidth; ++i) {
      llvm::Value* one = shuffle(vote, [&](unsigned lane) { return static_cast<int>((lane & ~3u) + i); });
      llvm::Value* bit = builder_.CreateSelect(one, llvm::ConstantInt::get(type, uint64_t{1} << i),
                                               llvm::Constant::getNullValue(type));
      ballot = builder_.CreateOr(ballot, bit);
    }
    parts_[&call] = {ballot};
    return;
  }
  for (unsigned distance : {1u, 2u}) {
    llvm::Value* other = shuffle(vote, [&](unsigned lane) { return static_cast<int>(lane ^ distance); });
    vote = is_all ? builder_.CreateAnd(vote, other) : builder_.CreateOr(vote, other);
  }
  parts_[&call] = {vote};
}

}  // namespace smelt::aot::cpu::lanes
