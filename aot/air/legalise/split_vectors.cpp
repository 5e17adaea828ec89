// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes of split vectors: picking, placing, shuffling and regrouping their bits.
#include "legalise/split_values.hpp"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

unsigned lanes_in(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

llvm::Type* element_of(llvm::Type* type) {
  return type->getScalarType();
}

}  // namespace

Lane Splitter::lane_of(llvm::Value* vector, unsigned index) {
  const Pieces parts = pieces(vector);
  if (parts.size() == 1 && lanes_in(parts[0]->getType()) == 1) return {parts[0], -1};
  for (llvm::Value* part : parts) {
    const unsigned lanes = lanes_in(part->getType());
    if (index < lanes) return {part, lanes == 1 ? -1 : static_cast<int>(index)};
    index -= lanes;
  }
  return {};
}

llvm::Value* Splitter::scalar(Builder& builder, const Lane& lane) {
  if (lane.lane < 0) return lane.value;
  return builder.CreateExtractElement(lane.value, builder.getInt64(static_cast<uint64_t>(lane.lane)));
}

/// One piece from lanes of anywhere: the piece itself where the lanes are all of one piece in order, one shuffle where
/// they come from two pieces of one width, insertions otherwise.
llvm::Value* Splitter::build(Builder& builder, llvm::ArrayRef<Lane> lanes, llvm::Type* type) {
  if (!type->isVectorTy()) return lanes[0].value ? scalar(builder, lanes[0]) : llvm::PoisonValue::get(type);
  llvm::SmallVector<llvm::Value*, 2> sources;
  bool shuffles = true;
  for (const Lane& lane : lanes) {
    if (!lane.value) continue;
    if (lane.lane < 0) shuffles = false;
    if (llvm::is_contained(sources, lane.value)) continue;
    sources.push_back(lane.value);
    if (sources.size() > 2 || sources[0]->getType() != lane.value->getType()) shuffles = false;
  }
  if (sources.empty()) return llvm::PoisonValue::get(type);
  if (shuffles) {
    llvm::SmallVector<int, 4> mask;
    bool identity = sources.size() == 1 && sources[0]->getType() == type;
    const unsigned width = lanes_in(sources[0]->getType());
    for (const auto& [i, lane] : llvm::enumerate(lanes)) {
      int from = -1;
      if (lane.value) from = lane.lane + (lane.value == sources[0] ? 0 : static_cast<int>(width));
      mask.push_back(from);
      identity = identity && (from < 0 || from == static_cast<int>(i));
    }
    if (identity) return sources[0];
    return sources.size() == 1 ? builder.CreateShuffleVector(sources[0], mask)
                               : builder.CreateShuffleVector(sources[0], sources[1], mask);
  }
  llvm::Value* result = llvm::PoisonValue::get(type);
  for (const auto& [i, lane] : llvm::enumerate(lanes))
    if (lane.value) result = builder.CreateInsertElement(result, scalar(builder, lane), builder.getInt64(i));
  return result;
}

Splitter::Pieces Splitter::build_all(Builder& builder, llvm::ArrayRef<Lane> lanes, llvm::Type* vector_type) {
  if (!must_split(vector_type)) return {build(builder, lanes, vector_type)};
  Pieces results;
  for (const Piece& piece : pieces_of(vector_type, layout_)) {
    const unsigned count = lanes_in(piece.type);
    results.push_back(build(builder, lanes.take_front(count), piece.type));
    lanes = lanes.drop_front(count);
  }
  return results;
}

Splitter::Pieces Splitter::shuffle(Builder& builder, llvm::ShuffleVectorInst& shuffle) {
  const unsigned width = lanes_in(shuffle.getOperand(0)->getType());
  llvm::SmallVector<Lane, 16> lanes;
  for (const int from : shuffle.getShuffleMask()) {
    if (from < 0) {
      lanes.push_back({});
      continue;
    }
    const auto index = static_cast<unsigned>(from);
    lanes.push_back(index < width ? lane_of(shuffle.getOperand(0), index)
                                  : lane_of(shuffle.getOperand(1), index - width));
  }
  return build_all(builder, lanes, shuffle.getType());
}

Splitter::Pieces Splitter::extract_element(Builder& builder, llvm::ExtractElementInst& extract) {
  llvm::Value* const vector = extract.getVectorOperand();
  llvm::Value* const index = extract.getIndexOperand();
  const unsigned width = lanes_in(vector->getType());
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(index)) {
    if (constant->getValue().uge(width)) return {llvm::PoisonValue::get(extract.getType())};
    return {scalar(builder, lane_of(vector, static_cast<unsigned>(constant->getZExtValue())))};
  }
  llvm::Value* result = scalar(builder, lane_of(vector, 0));  // a chain of selects: the lanes are in registers
  for (unsigned i = 1; i < width; ++i) {
    llvm::Value* const is_it = builder.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), i));
    result = builder.CreateSelect(is_it, scalar(builder, lane_of(vector, i)), result);
  }
  return {result};
}

Splitter::Pieces Splitter::insert_element(Builder& builder, llvm::InsertElementInst& insert) {
  llvm::Value* const vector = insert.getOperand(0);
  llvm::Value* const value = insert.getOperand(1);
  llvm::Value* const index = insert.getOperand(2);
  const unsigned width = lanes_in(insert.getType());
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(index);
  if (constant && constant->getValue().uge(width)) {
    llvm::SmallVector<Lane, 16> none(width);
    return build_all(builder, none, insert.getType());
  }
  Pieces parts = pieces(vector);
  unsigned first = 0;
  for (llvm::Value*& part : parts) {
    const unsigned lanes = lanes_in(part->getType());
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned number = first + lane;
      if (constant && constant->getZExtValue() != number) continue;
      llvm::Value* const placed = lanes == 1 ? value : builder.CreateInsertElement(part, value, builder.getInt64(lane));
      part = constant
                 ? placed
                 : builder.CreateSelect(builder.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), number)),
                                        placed, part);
    }
    first += lanes;
  }
  return parts;
}

/// Same bits, other lanes. Up to four narrow lanes meet in one small vector, which AIR bitcasts to the wide lane (and
/// back); eight bytes in a 64-bit lane are shifted together.
Result<Splitter::Pieces> Splitter::bitcast(Builder& builder, llvm::BitCastInst& cast) {
  llvm::Value* const source = cast.getOperand(0);
  llvm::Type* const to = cast.getType();
  // What a type is, as lanes of one size: a wide integer is its words.
  const auto lane_type = [&](llvm::Type* type) {
    return is_wide_integer(type) ? static_cast<llvm::Type*>(builder.getInt64Ty()) : element_of(type);
  };
  const auto lane_count = [&](llvm::Type* type) {
    return is_wide_integer(type) ? type->getIntegerBitWidth() / 64 : lanes_in(type);
  };
  llvm::Type* const from_lane = lane_type(source->getType());
  llvm::Type* const to_lane = lane_type(to);
  if (from_lane->isPointerTy() || to_lane->isPointerTy()) {
    if (source->getType() == to) return pieces(source);
    return refuse(cast, "no AIR form of this bitcast");
  }
  llvm::SmallVector<Lane, 16> lanes;
  const Pieces words = pieces(source);
  for (unsigned i = 0; i < lane_count(source->getType()); ++i)
    lanes.push_back(is_wide_integer(source->getType()) ? Lane{words[i], -1} : lane_of(source, i));

  const unsigned from_bits = from_lane->getScalarSizeInBits();
  const unsigned to_bits = to_lane->getScalarSizeInBits();
  llvm::SmallVector<Lane, 16> now;
  if (from_bits == to_bits) {
    for (const Lane& lane : lanes) now.push_back({builder.CreateBitCast(scalar(builder, lane), to_lane), -1});
  } else if (from_bits < to_bits) {
    const unsigned group = to_bits / from_bits;
    for (size_t at = 0; at < lanes.size(); at += group) {
      const llvm::ArrayRef<Lane> some = llvm::ArrayRef(lanes).slice(at, group);
      llvm::Value* whole = nullptr;
      if (group <= 4) {
        whole = build(builder, some, llvm::FixedVectorType::get(from_lane, group));
      } else {
        for (const auto& [i, lane] : llvm::enumerate(some)) {
          llvm::Value* bits = builder.CreateBitCast(scalar(builder, lane), builder.getIntNTy(from_bits));
          bits = builder.CreateShl(builder.CreateZExt(bits, builder.getIntNTy(to_bits)), i * from_bits);
          whole = whole ? builder.CreateOr(whole, bits) : bits;
        }
      }
      now.push_back({builder.CreateBitCast(whole, to_lane), -1});
    }
  } else {
    const unsigned group = from_bits / to_bits;
    for (const Lane& lane : lanes) {
      llvm::Value* const whole = scalar(builder, lane);
      if (group <= 4) {
        llvm::Value* const vector = builder.CreateBitCast(whole, llvm::FixedVectorType::get(to_lane, group));
        for (unsigned i = 0; i < group; ++i) now.push_back({vector, static_cast<int>(i)});
        continue;
      }
      llvm::Value* const bits = builder.CreateBitCast(whole, builder.getIntNTy(from_bits));
      for (unsigned i = 0; i < group; ++i) {
        llvm::Value* part = builder.CreateTrunc(builder.CreateLShr(bits, i * to_bits), builder.getIntNTy(to_bits));
        now.push_back({builder.CreateBitCast(part, to_lane), -1});
      }
    }
  }
  if (is_wide_integer(to)) {
    Pieces all;
    for (const Lane& lane : now) all.push_back(scalar(builder, lane));
    return all;
  }
  if (!to->isVectorTy()) return Pieces{scalar(builder, now[0])};
  return build_all(builder, now, to);
}

}  // namespace smelt::aot::air
