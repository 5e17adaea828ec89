// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simdgroup_matrix on row-major <64 x T> (see collectives.hpp).
#include "lower/matrix.hpp"

#include "lower/collectives.hpp"

#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::cpu {

using llvm::Value;

namespace matrix {

llvm::Type* scalar_type(llvm::IRBuilderBase& b, const Element& element) {
  switch (element.kind) {
    case ElementKind::half:
      return b.getHalfTy();
    case ElementKind::bfloat:
      return b.getBFloatTy();
    default:
      return b.getFloatTy();
  }
}

Value* emit_part(llvm::IRBuilderBase& b, Value* vector, unsigned first, unsigned count, unsigned step) {
  llvm::SmallVector<int, 64> mask;
  for (unsigned i = 0; i < count; ++i) mask.push_back(static_cast<int>(first + i * step));
  return b.CreateShuffleVector(vector, mask);
}
Value* emit_concatenated(llvm::IRBuilderBase& b, llvm::SmallVector<Value*, 8> parts) {
  while (parts.size() > 1) {
    llvm::SmallVector<Value*, 8> joined;
    for (size_t i = 0; i < parts.size(); i += 2) {
      const unsigned length = llvm::cast<llvm::FixedVectorType>(parts[i]->getType())->getNumElements();
      llvm::SmallVector<int, 64> mask;
      for (unsigned k = 0; k < 2 * length; ++k) mask.push_back(static_cast<int>(k));
      joined.push_back(b.CreateShuffleVector(parts[i], parts[i + 1], mask));
    }
    parts = std::move(joined);
  }
  return parts.front();
}
bool is_one(const Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant && constant->isOne();
}

Place emit_place(llvm::IRBuilderBase& b, llvm::Type* element, llvm::ArrayRef<Value*> operands) {
  Place place;
  Value* pointer = operands[0];
  const bool has_strides = operands[1]->getType()->isVectorTy();
  Value* origin = has_strides ? operands[3] : operands[2];
  Value *origin_x = b.CreateExtractElement(origin, uint64_t{0}),
        *origin_y = b.CreateExtractElement(origin, uint64_t{1});
  Value* offset = nullptr;
  if (has_strides) {
    place.column_step = b.CreateExtractElement(operands[2], uint64_t{0});
    place.row_step = b.CreateExtractElement(operands[2], uint64_t{1});
    offset = b.CreateAdd(b.CreateMul(origin_y, place.row_step), b.CreateMul(origin_x, place.column_step));
  } else {
    // The origin is (column, row) of the memory, transposed or not.
    Value *pitch = operands[1], *transpose = operands[3], *one = b.getInt64(1);
    // A builder folds a choice only where everything is constant, and a step of 1 has to be seen as one.
    const auto choose = [&](Value* on, Value* off) {
      const auto* known = llvm::dyn_cast<llvm::ConstantInt>(transpose);
      return known == nullptr ? b.CreateSelect(transpose, on, off) : known->isOne() ? on : off;
    };
    place.row_step = choose(one, pitch);
    place.column_step = choose(pitch, one);
    offset = b.CreateAdd(b.CreateMul(origin_y, pitch), origin_x);
  }
  place.base = b.CreateGEP(element, pointer, offset);
  return place;
}

Value* emit_address(llvm::IRBuilderBase& b, llvm::Type* element, const Place& place, unsigned row, unsigned column) {
  Value* at =
      b.CreateAdd(b.CreateMul(b.getInt64(row), place.row_step), b.CreateMul(b.getInt64(column), place.column_step));
  return b.CreateGEP(element, place.base, at);
}
llvm::Align element_alignment(llvm::Type* element) {
  return llvm::Align(element->getScalarSizeInBits() / 8);
}

}  // namespace matrix

using namespace matrix;

namespace {

Value* emit_transposed(llvm::IRBuilderBase& b, Value* matrix) {
  llvm::SmallVector<int, kElements> mask;
  for (unsigned i = 0; i < kElements; ++i) mask.push_back(static_cast<int>(i % kSide * kSide + i / kSide));
  return b.CreateShuffleVector(matrix, mask);
}

}  // namespace

Value* emit_matrix_load(llvm::IRBuilderBase& b, const Collective& collective, llvm::ArrayRef<Value*> operands) {
  llvm::Type* element = scalar_type(b, collective.element);
  const Place place = emit_place(b, element, operands);
  const bool by_rows = is_one(place.column_step), by_columns = is_one(place.row_step);
  if (by_rows || by_columns) {
    llvm::SmallVector<Value*, 8> lines;
    llvm::Type* line = llvm::FixedVectorType::get(element, kSide);
    for (unsigned i = 0; i < kSide; ++i) {
      Value* address = emit_address(b, element, place, by_rows ? i : 0, by_rows ? 0 : i);
      lines.push_back(b.CreateAlignedLoad(line, address, element_alignment(element)));
    }
    Value* matrix = emit_concatenated(b, lines);
    return by_rows ? matrix : emit_transposed(b, matrix);
  }
  Value* matrix = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, kElements));
  for (unsigned i = 0; i < kElements; ++i) {
    Value* address = emit_address(b, element, place, i / kSide, i % kSide);
    matrix = b.CreateInsertElement(matrix, b.CreateAlignedLoad(element, address, element_alignment(element)), i);
  }
  return matrix;
}

void emit_matrix_store(llvm::IRBuilderBase& b, const Collective& collective, llvm::ArrayRef<Value*> operands) {
  llvm::Type* element = scalar_type(b, collective.element);
  const Place place = emit_place(b, element, operands.drop_front());
  const bool by_rows = is_one(place.column_step), by_columns = is_one(place.row_step);
  Value* matrix = by_columns && !by_rows ? emit_transposed(b, operands[0]) : operands[0];
  if (by_rows || by_columns) {
    for (unsigned i = 0; i < kSide; ++i) {
      Value* address = emit_address(b, element, place, by_rows ? i : 0, by_rows ? 0 : i);
      b.CreateAlignedStore(emit_part(b, matrix, i * kSide, kSide), address, element_alignment(element));
    }
    return;
  }
  for (unsigned i = 0; i < kElements; ++i) {
    Value* address = emit_address(b, element, place, i / kSide, i % kSide);
    b.CreateAlignedStore(b.CreateExtractElement(matrix, i), address, element_alignment(element));
  }
}

Value* emit_matrix_multiply_accumulate(llvm::IRBuilderBase& b, const Collective& collective, Value* left, Value* right,
                                       Value* addend) {
  const auto widened = [&](Value* matrix) {
    return is_small_float(matrix->getType()) ? emit_to_float(b, matrix) : matrix;
  };
  left = widened(left);
  right = widened(right);
  addend = widened(addend);
  llvm::SmallVector<Value*, 8> right_rows, rows;
  for (unsigned k = 0; k < kSide; ++k) right_rows.push_back(emit_part(b, right, k * kSide, kSide));
  for (unsigned row = 0; row < kSide; ++row) {
    Value* sum = emit_part(b, addend, row * kSide, kSide);
    for (unsigned k = 0; k < kSide; ++k) {
      Value* factor = emit_part(b, left, row * kSide + k, kSide, 0);
      sum = b.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {factor, right_rows[k], sum});
    }
    rows.push_back(sum);
  }
  Value* result = emit_concatenated(b, rows);
  llvm::Type* element = scalar_type(b, collective.element);
  return is_small_float(element) ? emit_from_float(b, result, element) : result;
}

Value* emit_matrix_filled(llvm::IRBuilderBase& b, Value* scalar) {
  return b.CreateVectorSplat(kElements, scalar);
}
Value* emit_matrix_diagonal(llvm::IRBuilderBase& b, Value* scalar) {
  Value* matrix = llvm::Constant::getNullValue(llvm::FixedVectorType::get(scalar->getType(), kElements));
  for (unsigned i = 0; i < kSide; ++i) matrix = b.CreateInsertElement(matrix, scalar, i * kSide + i);
  return matrix;
}

Value* emit_matrix_slot(llvm::IRBuilderBase& b, Value* matrix, unsigned slot) {
  llvm::SmallVector<int, kSimdWidth> mask;
  for (unsigned lane = 0; lane < kSimdWidth; ++lane) mask.push_back(static_cast<int>(matrix_element(lane, slot)));
  return b.CreateShuffleVector(matrix, mask);
}
Value* emit_matrix_with_slot(llvm::IRBuilderBase& b, Value* matrix, unsigned slot, Value* lanes) {
  Value* other = emit_matrix_slot(b, matrix, 1 - slot);
  return slot == 0 ? emit_matrix_from_slots(b, lanes, other) : emit_matrix_from_slots(b, other, lanes);
}
Value* emit_matrix_from_slots(llvm::IRBuilderBase& b, Value* slot0, Value* slot1) {
  std::array<int, kElements> mask{};
  for (unsigned lane = 0; lane < kSimdWidth; ++lane)
    for (unsigned slot = 0; slot < 2; ++slot)
      mask[matrix_element(lane, slot)] = static_cast<int>(slot * kSimdWidth + lane);
  return b.CreateShuffleVector(slot0, slot1, mask);
}

}  // namespace smelt::aot::cpu
