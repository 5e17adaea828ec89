// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lanes of a simdgroup do together, as operations on registers. What each one means is written down once, in
// lower/collectives.hpp; here lanes that are off are kept out of it. docs/design/cpu-lanes.md 3, step 10.
#include "lanes/collectives.hpp"

#include "work_item/lane_functions.hpp"

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

llvm::Value* first_lane(GangContext& gang) {
  llvm::IRBuilder<>& builder = gang.builder;
  if (!gang.mask()) return builder.getInt32(0);
  llvm::Value* on = gang.bits(gang.mask());
  return builder.CreateZExtOrTrunc(builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, on, builder.getTrue()),
                                   builder.getInt32Ty());
}

// Halves, quarters, ...: what the code generator would make of llvm.vector.reduce, for any operation.
llvm::Value* reduce(GangContext& gang, const Collective& collective, llvm::Value* widened) {
  llvm::IRBuilder<>& builder = gang.builder;
  for (unsigned half = kSimdWidth / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 16> low;
    llvm::SmallVector<int, 16> high;
    for (unsigned i = 0; i < half; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(half + i));
    }
    widened = emit_combine(builder, collective, builder.CreateShuffleVector(widened, low),
                           builder.CreateShuffleVector(widened, high));
  }
  return builder.CreateExtractElement(widened, uint64_t{0});
}

llvm::Value* reduce_quads(GangContext& gang, const Collective& collective, llvm::Value* widened) {
  for (unsigned distance : {1u, 2u}) {
    llvm::Value* other = gang.shuffle(widened, [&](unsigned lane) { return static_cast<int>(lane ^ distance); });
    widened = emit_combine(gang.builder, collective, widened, other);
  }
  return widened;
}

llvm::Value* prefix(GangContext& gang, const Collective& collective, llvm::Value* widened) {
  const unsigned width = collective.group_width;
  llvm::Value* neutral = identity(collective, widened->getType());
  const auto below = [&](unsigned distance) {
    llvm::SmallVector<int, 32> from;
    for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
      from.push_back(static_cast<int>(lane % width >= distance ? lane - distance : kSimdWidth));
    }
    return gang.builder.CreateShuffleVector(widened, neutral, from);
  };
  const bool exclusive = collective.kind == CollectiveKind::prefix_exclusive_sum ||
                         collective.kind == CollectiveKind::prefix_exclusive_product;
  if (exclusive) widened = below(1);
  for (unsigned distance = 1; distance < width; distance *= 2) {
    widened = emit_combine(gang.builder, collective, below(distance), widened);
  }
  return widened;
}

// Lanes of `values` chosen at run time, by way of memory.
llvm::Value* pick_lanes(GangContext& gang, llvm::Value* values, llvm::Value* sources) {
  llvm::IRBuilder<>& builder = gang.builder;
  llvm::Type* element = values->getType()->getScalarType();
  if (element->isIntegerTy(1)) {
    llvm::Value* bytes = builder.CreateZExt(values, gang.wide(builder.getInt8Ty()));
    return builder.CreateTrunc(pick_lanes(gang, bytes, sources), values->getType());
  }
  llvm::Value* held = gang.scratch(1, gang.layout.getTypeAllocSize(element).getFixedValue() * kSimdWidth);
  builder.CreateAlignedStore(values, held, llvm::Align(64));
  llvm::Value* index =
      builder.CreateZExt(builder.CreateAnd(sources, llvm::ConstantInt::get(sources->getType(), kSimdWidth - 1)),
                         gang.wide(builder.getInt64Ty()));
  const uint64_t bytes = gang.layout.getTypeAllocSize(element).getFixedValue();
  if (bytes >= 4 && gang.options.native_gather) {
    return builder.CreateMaskedGather(values->getType(), builder.CreateGEP(element, held, index),
                                      gang.layout.getABITypeAlign(element), gang.all_on());
  }
  llvm::Value* result = llvm::PoisonValue::get(values->getType());
  for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
    llvm::Value* from = builder.CreateGEP(element, held, builder.CreateExtractElement(index, lane));
    result = builder.CreateInsertElement(result, builder.CreateLoad(element, from), lane);
  }
  return result;
}

}  // namespace

void Collectives::emit_call(llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  if (name == kAllLanes) {
    // Lanes that are off agree with everything.
    gang_.set_scalar(&call, gang_.every(active_or(gang_.part(call.getArgOperand(0)), gang_.all_on())));
  } else if (is_lane_function(*call.getCalledFunction())) {
    emit_lane_call(call);
  } else {
    emit_collective(call, *parse_collective(std::string_view(name)));
  }
}

void Collectives::emit_collective(llvm::CallInst& call, const Collective& collective) {
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
      gang_.set_scalar(&call, emit_async_copy(builder_, collective, operands));
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
    for (llvm::Value* one : gang_.parts(call.getArgOperand(0))) {
      llvm::Value* widened = emit_widen(builder_, collective, one);
      widened = active_or(widened, identity(collective, widened->getType()));
      if (is_prefix(collective.kind)) {
        results.push_back(emit_narrow(builder_, collective, prefix(gang_, collective, widened)));
      } else if (collective.group_width == kQuadWidth) {
        results.push_back(emit_narrow(builder_, collective, reduce_quads(gang_, collective, widened)));
      } else {
        results.push_back(emit_narrow(builder_, collective, reduce(gang_, collective, widened)));
      }
    }
  }
  if (!gang_.shape(&call).is_uniform()) {
    gang_.set_parts(&call, std::move(results));
    return;
  }
  // One scalar per component: put them together to the thread's own type.
  llvm::Value* whole = results.front();
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(call.getType())) {
    whole = llvm::PoisonValue::get(vector);
    for (unsigned i = 0; i < results.size(); ++i) whole = builder_.CreateInsertElement(whole, results[i], i);
  }
  gang_.set_scalar(&call, whole);
}

llvm::Value* Collectives::of_first_lane(llvm::Value* value) {
  if (llvm::isa<llvm::Constant>(value) || gang_.shape(value).is_uniform()) return gang_.scalar(value);
  const Parts all = gang_.parts(value);
  llvm::Value* lane = first_lane(gang_);
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (!vector) return builder_.CreateExtractElement(all.front(), lane);
  llvm::Value* result = llvm::PoisonValue::get(vector);
  for (unsigned i = 0; i < all.size(); ++i) {
    result = builder_.CreateInsertElement(result, builder_.CreateExtractElement(all[i], lane), i);
  }
  return result;
}

llvm::Value* Collectives::active_or(llvm::Value* value, llvm::Value* neutral) {
  return gang_.mask() ? builder_.CreateSelect(gang_.mask(), value, neutral, "active") : value;
}

Parts Collectives::move_lanes(llvm::CallInst& call, const Collective& collective) {
  Parts data = gang_.parts(call.getArgOperand(0));
  if (collective.kind != CollectiveKind::broadcast_first) {
    for (llvm::Value*& one : data) one = active_or(one, llvm::Constant::getNullValue(one->getType()));
  }
  Parts result;
  const bool quads = collective.group_width == kQuadWidth;
  if (gang_.shape(&call).is_uniform()) {
    llvm::Value* lane = collective.kind == CollectiveKind::broadcast_first
                            ? first_lane(gang_)
                            : builder_.CreateZExtOrTrunc(gang_.scalar(call.getArgOperand(1)), builder_.getInt32Ty());
    lane = builder_.CreateAnd(lane, builder_.getInt32(kSimdWidth - 1));
    for (llvm::Value* one : data) result.push_back(builder_.CreateExtractElement(one, lane));
    return result;
  }
  llvm::Type* index_type = gang_.wide(builder_.getInt32Ty());
  llvm::Value* lane = gang_.step_vector(builder_.getInt32Ty(), 1);
  if (collective.kind == CollectiveKind::broadcast_first) {
    // Of each quad: the lowest of its lanes that is on.
    llvm::Value* sources = builder_.CreateAnd(lane, llvm::ConstantInt::get(index_type, ~uint64_t{3} & 0xffffffff));
    if (quads && gang_.mask()) {
      for (unsigned candidate = kQuadWidth; candidate-- > 0;) {
        const auto of_quad = [&](unsigned at) { return static_cast<int>((at & ~3u) + candidate); };
        llvm::Value* is_on = gang_.shuffle(gang_.mask(), of_quad);
        llvm::Value* there = gang_.shuffle(lane, of_quad);
        sources = builder_.CreateSelect(is_on, there, sources);
      }
    }
    const auto known = constant_lanes(sources);
    for (llvm::Value* one : data) {
      result.push_back(known ? builder_.CreateShuffleVector(one, *known) : pick_lanes(gang_, one, sources));
    }
    return result;
  }
  const bool fills = collective.kind == CollectiveKind::fill_up || collective.kind == CollectiveKind::fill_down;
  llvm::Value* amount = gang_.part(call.getArgOperand(fills ? 2 : 1));
  llvm::Value* modulo = fills ? gang_.part(call.getArgOperand(3)) : nullptr;
  const SourceLane source = emit_source_lane(builder_, collective, lane, amount, modulo);
  const auto known = constant_lanes(source.index);
  const Parts fill = fills ? gang_.parts(call.getArgOperand(1)) : Parts();
  const auto moved = [&](llvm::Value* values) {
    llvm::Value* from_row = known ? broadcast_from_row(values, *known) : nullptr;
    if (from_row) return from_row;
    return known ? builder_.CreateShuffleVector(values, *known) : pick_lanes(gang_, values, source.index);
  };
  llvm::Value* source_is_on = fills && gang_.mask() ? moved(gang_.mask()) : nullptr;
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

void Collectives::emit_vote(llvm::CallInst& call, const Collective& collective) {
  const auto off = [&](bool value) { return llvm::ConstantInt::get(gang_.wide(builder_.getInt1Ty()), value ? 1 : 0); };
  const bool quads = collective.group_width == kQuadWidth;
  const bool is_all = collective.kind == CollectiveKind::all;
  llvm::Value* vote = nullptr;
  if (call.arg_size() > 0) {
    vote = active_or(gang_.part(call.getArgOperand(0)), off(is_all));
  } else {
    vote = gang_.mask() ? gang_.mask() : gang_.all_on();
  }
  if (collective.kind == CollectiveKind::is_first) {
    llvm::Value* lane = gang_.step_vector(builder_.getInt32Ty(), 1);
    if (!quads) {
      gang_.set_parts(&call, {builder_.CreateICmpEQ(lane, gang_.splat(first_lane(gang_)))});
      return;
    }
    // On, and no lane below it in the quad is.
    llvm::Value* first = gang_.all_on();
    for (unsigned distance = 1; distance < kQuadWidth; ++distance) {
      llvm::SmallVector<int, 32> from;
      for (unsigned at = 0; at < kSimdWidth; ++at) {
        from.push_back(static_cast<int>(at % kQuadWidth >= distance ? at - distance : kSimdWidth));
      }
      llvm::Value* below = builder_.CreateShuffleVector(vote, off(false), from);
      first = builder_.CreateSelect(below, off(false), first);
    }
    gang_.set_parts(&call, {first});
    return;
  }
  const bool is_mask =
      collective.kind == CollectiveKind::ballot || collective.kind == CollectiveKind::active_threads_mask;
  if (!quads) {
    gang_.set_scalar(&call, is_mask  ? builder_.CreateZExtOrTrunc(gang_.bits(vote), call.getType())
                            : is_all ? gang_.every(vote)
                                     : gang_.any(vote));
    return;
  }
  if (is_mask) {
    // Each lane gets the four bits of its quad, lowest lane first.
    llvm::Type* type = gang_.wide(call.getType());
    llvm::Value* ballot = llvm::Constant::getNullValue(type);
    for (unsigned i = 0; i < kQuadWidth; ++i) {
      llvm::Value* one = gang_.shuffle(vote, [&](unsigned lane) { return static_cast<int>((lane & ~3u) + i); });
      llvm::Value* bit = builder_.CreateSelect(one, llvm::ConstantInt::get(type, uint64_t{1} << i),
                                               llvm::Constant::getNullValue(type));
      ballot = builder_.CreateOr(ballot, bit);
    }
    gang_.set_parts(&call, {ballot});
    return;
  }
  for (unsigned distance : {1u, 2u}) {
    llvm::Value* other = gang_.shuffle(vote, [&](unsigned lane) { return static_cast<int>(lane ^ distance); });
    vote = is_all ? builder_.CreateAnd(vote, other) : builder_.CreateOr(vote, other);
  }
  gang_.set_parts(&call, {vote});
}

}  // namespace smelt::aot::cpu::lanes
