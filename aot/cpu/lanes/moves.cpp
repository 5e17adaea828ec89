// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/moves.hpp"

#include "abi/memory_function.hpp"
#include "launch/flow_builder.hpp"
#include "llvm_support/format.hpp"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace smelt::aot::cpu::lanes {
namespace {

using llvm::Value;
using Vectors = llvm::SmallVector<Value*, 4>;

constexpr unsigned kRegisterBits = 256;
// Lanes with a pointer each whose elements are moved in words, at once.
constexpr unsigned kWordLanes = 8;
constexpr unsigned kMostWordBits = 64;
// Bits of the registers in which all lanes are taken apart at once, and of a lane's elements of which they hold enough.
constexpr unsigned kWideBits = 512;
constexpr unsigned kMostWideBits = 128;

/// Bits of the words that a lane's elements are moved in; 0 where that brings nothing.
unsigned word_bits(const Move& move) {
  if (!move.words || move.stride != 0 || move.count < 2 || move.bits >= kMostWordBits) return 0;
  const unsigned all = move.bits * move.count;
  if (all <= kMostWordBits) return std::has_single_bit(all) ? all : 0;
  return all % kMostWordBits == 0 ? kMostWordBits : 0;
}

/// Whether all lanes are loaded before the first row is stored, and a row is then stored at once: who reads it waits
/// for no parts of it. Bytes are not: few processors have shuffles of them as wide as that.
bool loads_wide(const Move& move) {
  return word_bits(move) != 0 && move.bits >= 16 && std::has_single_bit(move.count) &&
         move.bits * move.count <= kMostWideBits;
}

Value* shuffled(llvm::IRBuilderBase& b, Value* left, Value* right, unsigned count, llvm::function_ref<int(int)> from) {
  llvm::SmallVector<int, 64> places;
  for (int i = 0; i < static_cast<int>(count); ++i) places.push_back(from(i));
  return b.CreateShuffleVector(left, right, places);
}

unsigned length_of(const Value* vector) {
  return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

/// The elements of `vectors` in a row, every second of them, from the first or from the second on; as many vectors as
/// half of those given.
Vectors every_second(llvm::IRBuilderBase& b, llvm::ArrayRef<Value*> vectors, int first) {
  Vectors result;
  for (size_t i = 0; i + 1 < vectors.size(); i += 2)
    result.push_back(
        shuffled(b, vectors[i], vectors[i + 1], length_of(vectors[i]), [&](int at) { return 2 * at + first; }));
  return result;
}

/// Four words of each of eight lanes: pairs of lanes that are four apart share a register, and four of those are
/// transposed in halves of it, one instruction for each shuffle.
Vectors load_four_words(llvm::IRBuilderBase& b, Value* memory) {
  auto* four = llvm::FixedVectorType::get(b.getInt32Ty(), 4);
  const auto lane = [&](unsigned number) {
    return b.CreateAlignedLoad(four, b.CreateConstInBoundsGEP1_64(four, memory, number), llvm::Align(4));
  };
  Vectors pairs;
  for (unsigned i = 0; i < 4; ++i) pairs.push_back(shuffled(b, lane(i), lane(i + 4), 8, [](int at) { return at; }));
  const auto woven = [&](Value* left, Value* right, llvm::ArrayRef<int> places) {
    return b.CreateShuffleVector(left, right, places);
  };
  constexpr int kLowWords[] = {0, 8, 1, 9, 4, 12, 5, 13};
  constexpr int kHighWords[] = {2, 10, 3, 11, 6, 14, 7, 15};
  constexpr int kLowPairs[] = {0, 1, 8, 9, 4, 5, 12, 13};
  constexpr int kHighPairs[] = {2, 3, 10, 11, 6, 7, 14, 15};
  Value* low[] = {woven(pairs[0], pairs[1], kLowWords), woven(pairs[2], pairs[3], kLowWords)};
  Value* high[] = {woven(pairs[0], pairs[1], kHighWords), woven(pairs[2], pairs[3], kHighWords)};
  return {woven(low[0], low[1], kLowPairs), woven(low[0], low[1], kHighPairs), woven(high[0], high[1], kLowPairs),
          woven(high[0], high[1], kHighPairs)};
}

/// The instructions of one chunk of lanes.
class Mover {
 public:
  Mover(FlowBuilder& builder, const Move& move)
      : b_(builder), move_(move), element_(b_.getIntNTy(move.bits)), step_(move.bits / 8) {
    // Lanes that are moved at once. Powers of two are taken apart by halves; for what is left short vectors are best.
    const bool halves = std::has_single_bit(move.stride);
    width_ = halves ? kRegisterBits / std::max(move.bits, std::min(32u, move.bits * move.stride)) : 4;
  }

  unsigned width() const { return width_; }

  /// `count` vectors of `width` lanes, from the one at `memory` on.
  Vectors load_chunk(Value* memory) {
    if (move_.bits == 32 && move_.stride == 4) {
      Vectors all = load_four_words(b_, memory);
      all.resize(move_.count);
      return all;
    }
    if (!std::has_single_bit(move_.stride)) return load_odd_chunk(memory);
    // Several elements of a lane in one word first.
    const unsigned together = std::min(std::max(32 / move_.bits, 1u), move_.stride);
    const unsigned words = move_.stride / together;
    llvm::Type* word = b_.getIntNTy(move_.bits * together);
    auto* type = llvm::FixedVectorType::get(word, width_);
    Vectors loaded;
    for (unsigned i = 0; i < words; ++i)
      loaded.push_back(b_.CreateAlignedLoad(type, b_.CreateConstInBoundsGEP1_64(type, memory, i), llvm::Align(step_)));
    Vectors result;
    for (Value* part : taken_apart(std::move(loaded)))
      for (unsigned i = 0; i < together && result.size() < move_.count; ++i)
        result.push_back(b_.CreateTrunc(i == 0 ? part : b_.CreateLShr(part, i * move_.bits), chunk_type()));
    return result;
  }

  void store_chunk(llvm::ArrayRef<Value*> vectors, Value* memory) {
    Value* all = llvm::concatenateVectors(b_, vectors);
    const auto count = static_cast<int>(move_.count);
    const auto width = static_cast<int>(width_);
    Value* joined = count == 1 ? all
                               : shuffled(b_, all, llvm::PoisonValue::get(all->getType()), move_.count * width_,
                                          [&](int at) { return at % count * width + at / count; });
    b_.CreateAlignedStore(joined, memory, llvm::Align(step_));
  }

  Value* lane_address(Value* memory, Value* lane) {
    if (move_.stride == 0) return b_.CreateLoad(b_.getPtrTy(), b_.CreateInBoundsGEP(b_.getPtrTy(), memory, lane));
    return b_.CreateInBoundsGEP(element_, memory, b_.CreateMul(lane, b_.getInt64(move_.stride)));
  }
  Value* element(Value* base, unsigned index) { return b_.CreateConstInBoundsGEP1_64(element_, base, index); }
  Value* place_in_row(Value* rows, unsigned row, Value* lane) {
    return b_.CreateInBoundsGEP(element_, element(rows, row * move_.lanes), lane);
  }
  /// `kWordLanes` lanes from `lane` on, each with a pointer of its own: whole words between memory and registers.
  void move_words(Value* pointers, Value* rows, Value* lane, bool loads) {
    const unsigned bits = word_bits(move_);
    const unsigned each = bits / move_.bits;
    auto* words = llvm::FixedVectorType::get(b_.getIntNTy(bits), kWordLanes);
    auto* elements = llvm::FixedVectorType::get(element_, kWordLanes);
    const llvm::Align align = llvm::commonAlignment(llvm::Align(64), uint64_t{kWordLanes} * move_.bits / 8);
    llvm::SmallVector<Value*, kWordLanes> lanes;
    for (unsigned i = 0; i < kWordLanes; ++i)
      lanes.push_back(lane_address(pointers, b_.CreateAdd(lane, b_.getInt64(i))));
    Vectors words_of_lanes;
    for (unsigned first = 0; first < move_.count; first += each) {
      Value* together = loads ? llvm::PoisonValue::get(words) : llvm::Constant::getNullValue(words);
      for (unsigned i = 0; i < kWordLanes && loads; ++i) {
        Value* word = b_.CreateAlignedLoad(words->getElementType(), element(lanes[i], first), alignment());
        together = b_.CreateInsertElement(together, word, i);
      }
      for (unsigned i = 0; i < each; ++i) {
        Value* row = place_in_row(rows, first + i, lane);
        const uint64_t shift = uint64_t{i} * move_.bits;
        if (loads) {
          b_.CreateAlignedStore(b_.CreateTrunc(b_.CreateLShr(together, shift), elements), row, align);
        } else {
          Value* widened = b_.CreateZExt(b_.CreateAlignedLoad(elements, row, align), words);
          together = b_.CreateOr(together, b_.CreateShl(widened, shift));
        }
      }
      words_of_lanes.push_back(together);
    }
    for (unsigned i = 0; i < kWordLanes && !loads; ++i)
      for (unsigned word = 0; word < words_of_lanes.size(); ++word)
        b_.CreateAlignedStore(b_.CreateExtractElement(words_of_lanes[word], i), element(lanes[i], word * each),
                              alignment());
  }

  /// All lanes, each with a pointer of its own, to rows. Mostly as many as fill a register lie side by side, as in a
  /// row of a tile: that shows only when it runs, and is then one load.
  void load_wide(Value* pointers, Value* rows) {
    const unsigned bits = move_.bits * move_.count;
    const unsigned each = std::min(move_.lanes, kWideBits / bits);
    auto* elements = llvm::FixedVectorType::get(element_, each * move_.count);
    llvm::BasicBlock* near = b_.block("near");
    llvm::BasicBlock* apart = b_.block("apart");
    llvm::BasicBlock* loaded = b_.block("loaded");
    b_.CreateCondBr(side_by_side(pointers, each, bits / 8), near, apart);
    Vectors ways[2];
    for (llvm::BasicBlock* way : {near, apart}) {
      b_.SetInsertPoint(way);
      for (unsigned first = 0; first < move_.lanes; first += each)
        ways[way == apart].push_back(
            way == near ? b_.CreateAlignedLoad(elements, lane_address(pointers, b_.getInt64(first)), alignment())
                        : b_.CreateBitCast(lanes_together(pointers, first, each, bits), elements));
      b_.CreateBr(loaded);
    }
    b_.SetInsertPoint(loaded);
    Vectors lanes;
    for (size_t i = 0; i < ways[0].size(); ++i) {
      llvm::PHINode* either = b_.CreatePHI(elements, 2);
      either->addIncoming(ways[0][i], near);
      either->addIncoming(ways[1][i], apart);
      lanes.push_back(either);
    }
    const std::vector<Vectors> made = rows_of_lanes(std::move(lanes), move_.count);
    for (unsigned row = 0; row < move_.count; ++row)
      for (unsigned lane = 0; Value * part : made[row]) {
        const uint64_t byte = (uint64_t{row} * move_.lanes + lane) * step_;
        b_.CreateAlignedStore(part, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), rows, byte),
                              llvm::commonAlignment(llvm::Align(64), byte));
        lane += length_of(part);
      }
  }

  llvm::Type* element_type() const { return element_; }
  llvm::Align alignment() const { return llvm::Align(step_); }
  llvm::Type* chunk_type() const { return llvm::FixedVectorType::get(element_, width_); }

 private:
  /// Whether in each `count` lanes a lane's `bytes` follow those of the lane before.
  Value* side_by_side(Value* pointers, unsigned count, unsigned bytes) {
    auto* numbers = llvm::FixedVectorType::get(b_.getInt64Ty(), move_.lanes);
    // Volatile, or LLVM takes the pointers of lanes that lie apart out of these registers: two instructions each.
    Value* all = b_.CreateAlignedLoad(numbers, pointers, llvm::Align(64), /*isVolatile=*/true);
    Value* begins = shuffled(b_, all, all, move_.lanes,
                             [&](int at) { return at / static_cast<int>(count) * static_cast<int>(count); });
    llvm::SmallVector<uint64_t, 32> distances;
    for (unsigned i = 0; i < move_.lanes; ++i) distances.push_back(uint64_t{i % count} * bytes);
    Value* expected = b_.CreateAdd(begins, llvm::ConstantDataVector::get(b_.getContext(), distances));
    return b_.CreateAndReduce(b_.CreateICmpEQ(all, expected));
  }

  /// `count` lanes' elements, of `bits` together, side by side.
  Value* lanes_together(Value* pointers, unsigned first, unsigned count, unsigned bits) {
    const auto lane = [&](unsigned at) { return lane_address(pointers, b_.getInt64(first + at)); };
    if (bits > kMostWordBits) {
      auto* type = llvm::FixedVectorType::get(b_.getInt64Ty(), bits / 64);
      Vectors loaded;
      for (unsigned i = 0; i < count; ++i) loaded.push_back(b_.CreateAlignedLoad(type, lane(i), alignment()));
      return llvm::concatenateVectors(b_, loaded);
    }
    Value* together = llvm::PoisonValue::get(llvm::FixedVectorType::get(b_.getIntNTy(bits), count));
    for (unsigned i = 0; i < count; ++i)
      together = b_.CreateInsertElement(together, b_.CreateAlignedLoad(b_.getIntNTy(bits), lane(i), alignment()), i);
    return together;
  }

  /// Rows of one element of each lane, from lanes with `count` elements each; a row is as many vectors as it needs.
  std::vector<Vectors> rows_of_lanes(Vectors lanes, unsigned count) {
    if (count == 1) return {lanes};
    std::vector<Vectors> rows(count);
    for (const int first : {0, 1}) {
      Vectors half = lanes.size() > 1 ? every_second(b_, lanes, first)
                                      : Vectors{shuffled(b_, lanes[0], lanes[0], length_of(lanes[0]) / 2,
                                                         [&](int at) { return 2 * at + first; })};
      std::vector<Vectors> made = rows_of_lanes(std::move(half), count / 2);
      for (unsigned i = 0; i < count / 2; ++i) rows[2 * i + static_cast<unsigned>(first)] = std::move(made[i]);
    }
    return rows;
  }

  /// Vectors of one word of each lane from words that lie in turns.
  Vectors taken_apart(Vectors words) {
    if (words.size() == 1) return words;
    const Vectors even = taken_apart(every_second(b_, words, 0));
    const Vectors odd = taken_apart(every_second(b_, words, 1));
    Vectors result;
    for (size_t i = 0; i < even.size(); ++i) result.append({even[i], odd[i]});
    return result;
  }

  Vectors load_odd_chunk(Value* memory) {
    auto* type = llvm::FixedVectorType::get(element_, width_ * move_.stride);
    Value* all = b_.CreateAlignedLoad(type, memory, alignment());
    Vectors result;
    for (unsigned i = 0; i < move_.count; ++i)
      result.push_back(shuffled(b_, all, llvm::PoisonValue::get(type), width_,
                                [&](int at) { return at * static_cast<int>(move_.stride) + static_cast<int>(i); }));
    return result;
  }

  FlowBuilder& b_;
  const Move& move_;
  llvm::Type* element_;
  unsigned step_;  // bytes
  unsigned width_ = 0;
};

/// The body of a function: all lanes in chunks, or those that are on one after another.
class MoveFunction {
 public:
  /// `index`: null where `move` says where lanes' elements lie.
  MoveFunction(llvm::Function& function, const Move& move, const WrappingIndex* index, bool loads)
      : function_(function),
        move_(move),
        index_(index),
        loads_(loads),
        b_(llvm::BasicBlock::Create(function.getContext(), "entry", &function)),
        mover_(b_, move) {}

  void emit() {
    if (index_ != nullptr) {
      each_lane();
      b_.CreateRetVoid();
      return;
    }
    // A store may not touch the places between lanes.
    const bool in_words = word_bits(move_) != 0;
    if (in_words || (move_.stride != 0 && (loads_ || move_.count == move_.stride))) {
      llvm::BasicBlock* whole = b_.block("whole");
      llvm::BasicBlock* some = b_.block("some");
      const uint32_t all = move_.lanes == 32 ? ~uint32_t{0} : (uint32_t{1} << move_.lanes) - 1;
      b_.CreateCondBr(b_.CreateICmpEQ(function_.getArg(2), b_.getInt32(all)), whole, some);
      b_.SetInsertPoint(whole);
      if (loads_ && loads_wide(move_))
        mover_.load_wide(function_.getArg(0), function_.getArg(1));
      else
        b_.loop(b_.getInt64(0), b_.getInt64(move_.lanes), in_words ? kWordLanes : mover_.width(), [&](Value* lane) {
          in_words ? mover_.move_words(function_.getArg(0), function_.getArg(1), lane, loads_) : chunk(lane);
        });
      b_.CreateRetVoid();
      b_.SetInsertPoint(some);
    }
    each_lane();
    b_.CreateRetVoid();
  }

 private:
  void chunk(Value* lane) {
    Value* memory = mover_.lane_address(function_.getArg(0), lane);
    const llvm::Align align = llvm::commonAlignment(llvm::Align(64), uint64_t{mover_.width()} * move_.bits / 8);
    Vectors values;
    if (loads_) values = mover_.load_chunk(memory);
    for (unsigned i = 0; i < move_.count; ++i) {
      Value* row = mover_.place_in_row(function_.getArg(1), i, lane);
      if (loads_)
        b_.CreateAlignedStore(values[i], row, align);
      else
        values.push_back(b_.CreateAlignedLoad(mover_.chunk_type(), row, align));
    }
    if (!loads_) mover_.store_chunk(values, memory);
  }

  void each_lane() {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* loop = b_.block("lane");
    llvm::BasicBlock* after = b_.block("done");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode* left = b_.CreatePHI(b_.getInt32Ty(), 2);
    left->addIncoming(function_.getArg(2), before);
    Value* lane = b_.CreateZExt(b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b_.getTrue()), b_.getInt64Ty());
    Value* memory = index_ != nullptr ? wrapping_address(lane) : mover_.lane_address(function_.getArg(0), lane);
    for (unsigned i = 0; i < move_.count; ++i) {
      Value* from = mover_.element(memory, i);
      Value* to = mover_.place_in_row(function_.getArg(1), i, lane);
      if (!loads_) std::swap(from, to);
      b_.CreateAlignedStore(b_.CreateAlignedLoad(mover_.element_type(), from, mover_.alignment()), to,
                            mover_.alignment());
    }
    Value* next = b_.CreateAnd(left, b_.CreateSub(left, b_.getInt32(1)));
    left->addIncoming(next, loop);
    b_.CreateCondBr(b_.CreateICmpNE(next, b_.getInt32(0)), loop, after);
    b_.SetInsertPoint(after);
  }

  /// The numbers of WrappingIndex are arguments, so that few functions do for a kernel.
  Value* wrapping_address(Value* lane) {
    const auto argument = [&](unsigned number) -> Value* { return function_.getArg(3 + number); };
    Value *first = argument(0), *step = argument(1), *scale = argument(2), *apart = argument(3);
    const auto widened = [&](Value* number) {
      return index_->is_signed ? b_.CreateSExt(number, b_.getInt64Ty()) : b_.CreateZExt(number, b_.getInt64Ty());
    };
    Value* to_lane = b_.CreateTrunc(b_.CreateMul(step, lane), first->getType());
    Value* further = b_.CreateSub(widened(b_.CreateAdd(first, to_lane)), widened(first));
    Value* offset = b_.CreateAdd(b_.CreateMul(apart, lane), b_.CreateMul(scale, further));
    return b_.CreateGEP(b_.getInt8Ty(), function_.getArg(0), offset);
  }

  llvm::Function& function_;
  const Move& move_;
  const WrappingIndex* const index_;
  const bool loads_;
  FlowBuilder b_;
  Mover mover_;
};

llvm::Function* function_of(llvm::Module& module, const Move& move, bool loads) {
  const std::string name = fmt::format("smelt.{}_lanes.{}x{}.{}.{}", loads ? "load" : "store", move.bits, move.count,
                                       move.stride, move.lanes);
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::Type* pointer = llvm::PointerType::get(module.getContext(), 0);
  llvm::Function* function =
      make_memory_function(module, name, {pointer, pointer, llvm::Type::getInt32Ty(module.getContext())});
  function->addFnAttr(kStaysCalled);
  if (move.stride != 0) {
    function->setOnlyAccessesArgMemory();
  } else if (word_bits(move) == 0) {
    // Lane after lane needs no vector: the caller's stay where they are.
    function->setCallingConv(llvm::CallingConv::PreserveAll);
    function->addFnAttr(llvm::Attribute::NoImplicitFloat);
  }
  function->addParamAttr(loads ? 0 : 1, llvm::Attribute::ReadOnly);
  if (move.stride == 0) function->addParamAttr(0, llvm::Attribute::ReadOnly);
  if (loads || move.stride != 0) function->addParamAttr(loads ? 1 : 0, llvm::Attribute::WriteOnly);
  MoveFunction(*function, move, nullptr, loads).emit();
  return function;
}

llvm::Function* wrapping_function_of(llvm::Module& module, const Move& move, const WrappingIndex& index, bool loads) {
  const std::string name = fmt::format("smelt.{}_lanes.{}x{}.{}.wrapping.{}{}", loads ? "load" : "store", move.bits,
                                       move.count, move.lanes, index.is_signed ? "i" : "u", index.bits);
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Type* number = llvm::Type::getInt64Ty(context);
  llvm::Type* narrow = llvm::Type::getIntNTy(context, index.bits);
  llvm::Function* function = make_memory_function(
      module, name, {pointer, pointer, llvm::Type::getInt32Ty(context), narrow, number, number, number});
  // Not marked as cold: LLVM 19 would sink addresses to each such call, in a time that grows with the square of them.
  function->addFnAttr(kStaysCalled);
  function->setOnlyAccessesArgMemory();
  // No vector is needed: the caller's stay where they are.
  function->setCallingConv(llvm::CallingConv::PreserveAll);
  function->addFnAttr(llvm::Attribute::NoImplicitFloat);
  function->addParamAttr(loads ? 0 : 1, llvm::Attribute::ReadOnly);
  function->addParamAttr(loads ? 1 : 0, llvm::Attribute::WriteOnly);
  MoveFunction(*function, move, &index, loads).emit();
  return function;
}

void call_wrapping(llvm::IRBuilderBase& builder, const Move& move, const WrappingIndex& index,
                   llvm::ArrayRef<Value*> memory_rows_on, Value* first, bool loads) {
  llvm::Function* function = wrapping_function_of(*builder.GetInsertBlock()->getModule(), move, index, loads);
  const auto number = [&](int64_t value) { return builder.getInt64(static_cast<uint64_t>(value)); };
  llvm::SmallVector<Value*, 7> arguments(memory_rows_on);
  arguments.append({first, number(index.step), number(index.scale), number(index.apart)});
  builder.CreateCall(function, arguments)->setCallingConv(function->getCallingConv());
}

}  // namespace

void call_wrapping_load(llvm::IRBuilderBase& builder, const Move& move, const WrappingIndex& index,
                        llvm::ArrayRef<Value*> memory_rows_on, Value* first) {
  call_wrapping(builder, move, index, memory_rows_on, first, true);
}

void call_wrapping_store(llvm::IRBuilderBase& builder, const Move& move, const WrappingIndex& index,
                         llvm::ArrayRef<Value*> memory_rows_on, Value* first) {
  call_wrapping(builder, move, index, memory_rows_on, first, false);
}

void call_load(llvm::IRBuilderBase& builder, const Move& move, llvm::ArrayRef<Value*> memory_rows_on) {
  llvm::Function* function = function_of(*builder.GetInsertBlock()->getModule(), move, true);
  builder.CreateCall(function, memory_rows_on)->setCallingConv(function->getCallingConv());
}

void call_store(llvm::IRBuilderBase& builder, const Move& move, llvm::ArrayRef<Value*> memory_rows_on) {
  llvm::Function* function = function_of(*builder.GetInsertBlock()->getModule(), move, false);
  builder.CreateCall(function, memory_rows_on)->setCallingConv(function->getCallingConv());
}

}  // namespace smelt::aot::cpu::lanes
