// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch/collective_code.hpp"

#include "regions/live_values.hpp"
#include "runtime/runtime.hpp"

#include <numeric>

namespace smelt::aot::cpu {
namespace {

class CollectiveEmitter {
 public:
  CollectiveEmitter(FlowBuilder& builder, const Collective& collective, llvm::ArrayRef<LaneArray> operands,
                    const LaneArray& result, llvm::Value* mask, const StrayLanes& stray)
      : builder_(builder),
        collective_(collective),
        operands_(operands),
        result_(result),
        mask_(mask),
        stray_(stray),
        data_layout_(builder.GetInsertBlock()->getModule()->getDataLayout()) {}

  Result<void> emit() {
    active_ = builder_.CreateBitCast(mask_, llvm::FixedVectorType::get(builder_.getInt1Ty(), kSimdWidth));
    first_ = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask_, builder_.getTrue());
    if (is_reduction(collective_.kind)) return emit_by_component([&](llvm::Value* lanes) { return reduce(lanes); });
    if (is_prefix(collective_.kind)) return emit_by_component([&](llvm::Value* lanes) { return prefix(lanes); });
    if (is_lane_move(collective_.kind)) return emit_move();
    if (is_matrix(collective_.kind)) return emit_matrix();
    switch (collective_.kind) {
      case CollectiveKind::ballot:
      case CollectiveKind::all:
      case CollectiveKind::any:
      case CollectiveKind::is_first:
      case CollectiveKind::active_threads_mask:
        return emit_vote();
      case CollectiveKind::async_copy_1d:
      case CollectiveKind::async_copy_2d:
        return emit_copy();
      case CollectiveKind::async_wait:
        return {};
      case CollectiveKind::tensor_product:
      case CollectiveKind::tensor_reduce:
        return emit_tensor();
      default:
        return fail(Errc::unsupported, "a collective operation that regions do not know");
    }
  }

 private:
  llvm::Align element_alignment(llvm::Type* type) const { return data_layout_.getABITypeAlign(type); }

  /// Elements from one lane to the next in an array of `type`.
  unsigned stride_of(llvm::Type* type) const {
    return static_cast<unsigned>(data_layout_.getTypeAllocSize(type) /
                                 data_layout_.getTypeAllocSize(type->getScalarType()));
  }

  llvm::SmallVector<int> strided_mask(unsigned stride, unsigned component) const {
    llvm::SmallVector<int> mask;
    for (unsigned lane = 0; lane < kSimdWidth; ++lane) mask.push_back(static_cast<int>(lane * stride + component));
    return mask;
  }

  static unsigned components_of(const llvm::Type* type) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector != nullptr ? vector->getNumElements() : 1;
  }

  /// All lanes of one component, `<32 x T>`.
  llvm::Value* load_lanes(const LaneArray& array, unsigned component = 0) {
    const unsigned stride = stride_of(array.type);
    llvm::Type* scalar = array.type->getScalarType();
    llvm::Value* all = builder_.CreateAlignedLoad(llvm::FixedVectorType::get(scalar, kSimdWidth * stride),
                                                  array.address, element_alignment(scalar));
    return stride == 1 ? all : builder_.CreateShuffleVector(all, strided_mask(stride, component));
  }

  void store_lanes(const LaneArray& array, llvm::ArrayRef<llvm::Value*> components) {
    const unsigned stride = stride_of(array.type);
    llvm::Type* scalar = array.type->getScalarType();
    if (stride == 1) {
      builder_.CreateAlignedStore(components[0], array.address, element_alignment(scalar));
      return;
    }
    for (unsigned lane = 0; lane < kSimdWidth; ++lane)
      for (unsigned c = 0; c < components.size(); ++c) {
        llvm::Value* at = builder_.CreateConstInBoundsGEP1_64(scalar, array.address, lane * stride + c);
        builder_.CreateAlignedStore(builder_.CreateExtractElement(components[c], lane), at, element_alignment(scalar));
      }
  }

  /// What the first active lane has: for operands that are the same in all.
  llvm::Value* load_first(const LaneArray& array) {
    llvm::Value* lane = builder_.CreateZExt(first_, builder_.getInt64Ty());
    llvm::Value* at = builder_.CreateInBoundsGEP(
        builder_.getInt8Ty(), array.address,
        builder_.CreateMul(lane, builder_.getInt64(data_layout_.getTypeAllocSize(array.type))));
    return builder_.CreateAlignedLoad(array.type, at, element_alignment(array.type));
  }

  template <class Operation>
  Result<void> emit_by_component(Operation operation) {
    llvm::SmallVector<llvm::Value*> results;
    for (unsigned c = 0; c < components_of(result_.type); ++c) {
      llvm::Value* wide = emit_widen(builder_, collective_, load_lanes(operands_[0], c));
      llvm::Value* quiet = builder_.CreateSelect(active_, wide, identity(collective_, wide->getType()));
      results.push_back(emit_narrow(builder_, collective_, operation(quiet)));
    }
    store_lanes(result_, results);
    return {};
  }

  llvm::Value* lanes_from(llvm::Value* lanes, llvm::ArrayRef<int> sources, llvm::Value* others = nullptr) {
    return others != nullptr ? builder_.CreateShuffleVector(lanes, others, sources)
                             : builder_.CreateShuffleVector(lanes, sources);
  }

  /// Butterfly: after log2(width) steps every lane has the whole.
  llvm::Value* reduce(llvm::Value* lanes) {
    for (unsigned distance = collective_.group_width / 2; distance > 0; distance /= 2) {
      llvm::SmallVector<int> sources;
      for (unsigned lane = 0; lane < kSimdWidth; ++lane) sources.push_back(static_cast<int>(lane ^ distance));
      lanes = emit_combine(builder_, collective_, lanes, lanes_from(lanes, sources));
    }
    return lanes;
  }

  llvm::Value* prefix(llvm::Value* lanes) {
    llvm::Constant* neutral = identity(collective_, lanes->getType());
    const unsigned width = collective_.group_width;
    const auto shifted = [&](llvm::Value* value, unsigned distance) {
      llvm::SmallVector<int> sources;
      for (unsigned lane = 0; lane < kSimdWidth; ++lane)
        sources.push_back(static_cast<int>(lane % width >= distance ? lane - distance : kSimdWidth + lane));
      return lanes_from(value, sources, neutral);
    };
    for (unsigned distance = 1; distance < width; distance *= 2)
      lanes = emit_combine(builder_, collective_, shifted(lanes, distance), lanes);
    const bool exclusive = collective_.kind == CollectiveKind::prefix_exclusive_sum ||
                           collective_.kind == CollectiveKind::prefix_exclusive_product;
    return exclusive ? shifted(lanes, 1) : lanes;
  }

  llvm::Value* lane_numbers() {
    llvm::SmallVector<uint32_t> numbers(kSimdWidth);
    std::iota(numbers.begin(), numbers.end(), 0u);
    return llvm::ConstantDataVector::get(builder_.getContext(), numbers);
  }

  llvm::Value* splat(llvm::Value* value) { return builder_.CreateVectorSplat(kSimdWidth, value); }

  /// `<32 x i32>`: lowest active lane of each lane's group.
  llvm::Value* first_of_group() {
    if (collective_.group_width == kSimdWidth) return splat(first_);
    llvm::Value* base = builder_.CreateAnd(lane_numbers(), splat(builder_.getInt32(~(kQuadWidth - 1))));
    llvm::Value* quad = builder_.CreateLShr(splat(mask_), base);
    llvm::Value* offset = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, quad, builder_.getFalse());
    return builder_.CreateAdd(base, builder_.CreateAnd(offset, splat(builder_.getInt32(kQuadWidth - 1))));
  }

  Result<void> emit_move() {
    SourceLane source;
    if (collective_.kind == CollectiveKind::broadcast_first) {
      source.index = first_of_group();
    } else {
      const bool fills = collective_.kind == CollectiveKind::fill_up || collective_.kind == CollectiveKind::fill_down;
      llvm::Value* amount = load_lanes(operands_[fills ? 2 : 1]);
      llvm::Value* modulo = fills ? load_lanes(operands_[3]) : nullptr;
      source = emit_source_lane(builder_, collective_, lane_numbers(), amount, modulo);
    }
    // A lane that does not take part gives 0, and its readers fill from themselves (lower/collectives.hpp).
    llvm::Value* gives = builder_.CreateTrunc(builder_.CreateLShr(splat(mask_), source.index),
                                              llvm::FixedVectorType::get(builder_.getInt1Ty(), kSimdWidth));
    tell_of_strays(gives, source.from_fill);
    llvm::Value* index = builder_.CreateSelect(gives, source.index, lane_numbers());
    llvm::AllocaInst* indices = builder_.variable(index->getType(), "indices", index);
    llvm::Type* bytes = llvm::FixedVectorType::get(builder_.getInt8Ty(), kSimdWidth);
    const auto flags = [&](llvm::Value* bits, const char* name) -> llvm::AllocaInst* {
      return bits != nullptr ? builder_.variable(bytes, name, builder_.CreateZExt(bits, bytes)) : nullptr;
    };
    llvm::AllocaInst* given = flags(gives, "given");
    llvm::AllocaInst* fills = flags(source.from_fill, "fills");
    const uint64_t size = data_layout_.getTypeAllocSize(result_.type);
    const auto element = [&](const LaneArray& array, llvm::Value* lane) {
      return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), array.address,
                                        builder_.CreateMul(lane, builder_.getInt64(size)));
    };
    const auto flag = [&](llvm::AllocaInst* of, llvm::Value* lane) {
      llvm::Value* at = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), of, lane);
      return builder_.CreateIsNotNull(builder_.CreateLoad(builder_.getInt8Ty(), at));
    };
    builder_.loop(builder_.getInt64(0), builder_.getInt64(kSimdWidth), 1, [&](llvm::Value* lane) {
      llvm::Value* at = builder_.CreateInBoundsGEP(builder_.getInt32Ty(), indices, lane);
      llvm::Value* from = builder_.CreateZExt(builder_.CreateLoad(builder_.getInt32Ty(), at), builder_.getInt64Ty());
      llvm::Value* value =
          builder_.CreateAlignedLoad(result_.type, element(operands_[0], from), element_alignment(result_.type));
      value = builder_.CreateSelect(flag(given, lane), value, llvm::Constant::getNullValue(result_.type));
      if (fills != nullptr) {
        llvm::Value* fill =
            builder_.CreateAlignedLoad(result_.type, element(operands_[1], from), element_alignment(result_.type));
        value = builder_.CreateSelect(flag(fills, lane), fill, value);
      }
      builder_.CreateAlignedStore(value, element(result_, lane), element_alignment(result_.type));
    });
    return {};
  }

  /// Lanes that take part and read one that does not.
  void tell_of_strays(llvm::Value* gives, llvm::Value* from_fill) {
    if (!stray_) return;
    llvm::Value* reads = builder_.CreateNot(gives);
    if (from_fill != nullptr) reads = builder_.CreateAnd(reads, builder_.CreateNot(from_fill));
    stray_(builder_.CreateBitCast(builder_.CreateAnd(reads, active_), builder_.getInt32Ty()));
  }

  /// One bit a lane, of the lanes of `lane`'s group only, moved down to bit 0. `<32 x i32>`.
  llvm::Value* group_bits(llvm::Value* bits) {
    if (collective_.group_width == kSimdWidth) return splat(bits);
    llvm::Value* base = builder_.CreateAnd(lane_numbers(), splat(builder_.getInt32(~(kQuadWidth - 1))));
    return builder_.CreateAnd(builder_.CreateLShr(splat(bits), base), splat(builder_.getInt32((1u << kQuadWidth) - 1)));
  }

  Result<void> emit_vote() {
    llvm::Value* votes = mask_;
    if (!operands_.empty()) {
      llvm::Value* flags = builder_.CreateIsNotNull(load_lanes(operands_[0]));
      votes = builder_.CreateAnd(builder_.CreateBitCast(flags, builder_.getInt32Ty()), mask_);
    }
    llvm::Value* answer = nullptr;
    switch (collective_.kind) {
      case CollectiveKind::all:
        answer = builder_.CreateICmpEQ(group_bits(votes), group_bits(mask_));
        break;
      case CollectiveKind::any:
        answer = builder_.CreateIsNotNull(group_bits(votes));
        break;
      case CollectiveKind::is_first:
        answer = builder_.CreateICmpEQ(first_of_group(), lane_numbers());
        break;
      default:  // ballot, active_threads_mask
        answer = group_bits(votes);
        break;
    }
    llvm::Type* to = llvm::FixedVectorType::get(result_.type, kSimdWidth);
    store_lanes(result_, {builder_.CreateZExtOrTrunc(answer, to)});
    return {};
  }

  // ---- matrices: two elements a lane, `<2 x T>` in memory, so position s of lane l is element 2 * l + s ----

  llvm::Value* load_matrix(const LaneArray& array) {
    llvm::Type* scalar = array.type->getScalarType();
    llvm::Value* all = builder_.CreateAlignedLoad(llvm::FixedVectorType::get(scalar, 2 * kSimdWidth), array.address,
                                                  element_alignment(array.type));
    return emit_matrix_from_slots(builder_, builder_.CreateShuffleVector(all, strided_mask(2, 0)),
                                  builder_.CreateShuffleVector(all, strided_mask(2, 1)));
  }

  void store_matrix(const LaneArray& array, llvm::Value* matrix) {
    llvm::SmallVector<int> weave;
    for (unsigned lane = 0; lane < kSimdWidth; ++lane) {
      weave.push_back(static_cast<int>(lane));
      weave.push_back(static_cast<int>(kSimdWidth + lane));
    }
    llvm::Value* all = builder_.CreateShuffleVector(emit_matrix_slot(builder_, matrix, 0),
                                                    emit_matrix_slot(builder_, matrix, 1), weave);
    builder_.CreateAlignedStore(all, array.address, element_alignment(array.type));
  }

  Result<void> emit_matrix() {
    llvm::SmallVector<llvm::Value*> values;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const bool matrix = (collective_.kind == CollectiveKind::matrix_store && i == 0) ||
                          collective_.kind == CollectiveKind::matrix_multiply_accumulate;
      values.push_back(matrix ? load_matrix(operands_[i]) : load_first(operands_[i]));
    }
    for (size_t i = 0; i < values.size(); ++i)  // flags were widened to bytes
      if (is_flag(i)) values[i] = builder_.CreateTrunc(values[i], builder_.getInt1Ty());
    switch (collective_.kind) {
      case CollectiveKind::matrix_load:
        store_matrix(result_, emit_matrix_load(builder_, collective_, values));
        return {};
      case CollectiveKind::matrix_store:
        emit_matrix_store(builder_, collective_, values);
        return {};
      case CollectiveKind::matrix_multiply_accumulate:
        store_matrix(result_, emit_matrix_multiply_accumulate(builder_, collective_, values[0], values[1], values[2]));
        return {};
      case CollectiveKind::matrix_filled:
        store_matrix(result_, emit_matrix_filled(builder_, values[0]));
        return {};
      default:
        store_matrix(result_, emit_matrix_diagonal(builder_, values[0]));
        return {};
    }
  }

  bool is_flag(size_t operand) const {
    return (collective_.kind == CollectiveKind::matrix_load || collective_.kind == CollectiveKind::matrix_store) &&
           operands_[operand].type->isIntegerTy(8);
  }

  Result<void> emit_copy() {
    llvm::SmallVector<llvm::Value*> values;
    for (const LaneArray& operand : operands_) values.push_back(load_first(operand));
    llvm::Value* event = emit_async_copy(builder_, collective_, values);
    store_lanes(result_, {splat(event)});
    return {};
  }

  Result<void> emit_tensor() {
    llvm::Module& module = *builder_.GetInsertBlock()->getModule();
    const std::string_view name = *tensor_function(collective_.kind);
    llvm::Function* callee = declare_runtime(module, name);
    if (callee == nullptr || callee->arg_size() != operands_.size() + 1)
      return fail(Errc::compile_failed, "the CPU runtime inside this build of smelt has no '{}'", name);
    llvm::SmallVector<llvm::Value*> values{mask_};
    for (const LaneArray& operand : operands_)
      values.push_back(operand.type->isPointerTy() ? operand.address : load_first(operand));
    builder_.CreateCall(callee, values);
    return {};
  }

  FlowBuilder& builder_;
  const Collective& collective_;
  llvm::ArrayRef<LaneArray> operands_;
  const LaneArray& result_;
  llvm::Value* mask_;
  const StrayLanes& stray_;
  const llvm::DataLayout& data_layout_;
  llvm::Value* active_ = nullptr;
  llvm::Value* first_ = nullptr;
};

}  // namespace

Result<void> emit_collective(FlowBuilder& builder, const Collective& collective, llvm::ArrayRef<LaneArray> operands,
                             const LaneArray& result, llvm::Value* mask, const StrayLanes& stray) {
  return CollectiveEmitter(builder, collective, operands, result, mask, stray).emit();
}

}  // namespace smelt::aot::cpu
