// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simdgroup_matrix on row-major <64 x T> (see collectives.hpp).
#include "cpu/lower/collectives.hpp"
#include "cpu/lower/operation.hpp"

#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::cpu {
namespace {

using llvm::Value;

constexpr unsigned kSide = 8;
constexpr unsigned kElements = 64;

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

/// `count` elements of `vector` from `first` on, `step` apart.
Value* emit_part(llvm::IRBuilderBase& b, Value* vector, unsigned first, unsigned count, unsigned step = 1) {
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
Value* emit_transposed(llvm::IRBuilderBase& b, Value* matrix) {
  llvm::SmallVector<int, kElements> mask;
  for (unsigned i = 0; i < kElements; ++i) mask.push_back(static_cast<int>(i % kSide * kSide + i / kSide));
  return b.CreateShuffleVector(matrix, mask);
}

/// Where a matrix lies in memory: element (row, column) is at base + row * row_step + column * column_step elements.
struct Place {
  Value* base = nullptr;
  Value *row_step = nullptr, *column_step = nullptr;
};

bool is_one(const Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant && constant->isOne();
}

/// From (p, pitch, origin, transpose) or (p, dims, strides, origin).
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
    place.row_step = b.CreateSelect(transpose, one, pitch);
    place.column_step = b.CreateSelect(transpose, pitch, one);
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

namespace {

/// The body of a function that multiplies matrices in memory.
class MultiplyFunction {
 public:
  MultiplyFunction(llvm::Function& function, llvm::ArrayRef<llvm::Type*> elements, MatrixForm form)
      : function_(function),
        elements_(elements),
        form_(form),
        b_(llvm::BasicBlock::Create(function.getContext(), "entry", &function)) {}

  void emit() {
    // Factors are loaded one by one into all places of a register: from floats, in rows.
    Value* factors = function_.getArg(0);
    if (is_small_float(elements_[0]) || form_ == MatrixForm::slots) {
      factors = b_.CreateAlloca(llvm::ArrayType::get(b_.getFloatTy(), kElements));
      const auto left = rows_of(0);
      for (unsigned row = 0; row < kSide; ++row)
        b_.CreateAlignedStore(left[row], at(factors, b_.getFloatTy(), row * kSide), llvm::Align(4));
    }
    const auto right = rows_of(1);
    llvm::SmallVector<Value*, 8> sums = rows_of(2);
    for (unsigned row = 0; row < kSide; ++row)
      for (unsigned k = 0; k < kSide; ++k) {
        Value* factor = b_.CreateAlignedLoad(b_.getFloatTy(), at(factors, b_.getFloatTy(), row * kSide + k), llvm::Align(4));
        sums[row] = b_.CreateIntrinsic(llvm::Intrinsic::fma, {sums[row]->getType()},
                                       {b_.CreateVectorSplat(kSide, factor), right[k], sums[row]});
      }
    for (Value*& sum : sums)
      if (is_small_float(elements_[3])) sum = emit_from_float(b_, sum, elements_[3]);
    store(sums);
    b_.CreateRetVoid();
  }

 private:
  Value* at(Value* matrix, llvm::Type* element, unsigned index) {
    return b_.CreateConstInBoundsGEP1_64(element, matrix, index);
  }
  static llvm::Align alignment(llvm::Type* element, unsigned count) {
    return llvm::Align(count * element->getScalarSizeInBits() / 8);
  }

  llvm::SmallVector<Value*, 8> rows_of(unsigned operand) {
    llvm::Type* element = elements_[operand];
    const auto load = [&](unsigned first, unsigned count) {
      return b_.CreateAlignedLoad(llvm::FixedVectorType::get(element, count),
                                  at(function_.getArg(operand), element, first), alignment(element, count));
    };
    Value* all = nullptr;
    if (form_ == MatrixForm::slots) all = emit_matrix_from_slots(b_, load(0, kSimdWidth), load(kSimdWidth, kSimdWidth));
    llvm::SmallVector<Value*, 8> rows;
    for (unsigned row = 0; row < kSide; ++row) {
      Value* line = all != nullptr ? emit_part(b_, all, row * kSide, kSide) : load(row * kSide, kSide);
      rows.push_back(is_small_float(element) ? emit_to_float(b_, line) : line);
    }
    return rows;
  }

  void store(llvm::ArrayRef<Value*> rows) {
    llvm::Type* element = elements_[3];
    Value* result = function_.getArg(3);
    if (form_ == MatrixForm::rows) {
      for (unsigned row = 0; row < kSide; ++row)
        b_.CreateAlignedStore(rows[row], at(result, element, row * kSide), alignment(element, kSide));
      return;
    }
    Value* all = emit_concatenated(b_, llvm::SmallVector<Value*, 8>(rows));
    for (unsigned slot = 0; slot < 2; ++slot)
      b_.CreateAlignedStore(emit_matrix_slot(b_, all, slot), at(result, element, slot * kSimdWidth),
                            alignment(element, kSimdWidth));
  }

  llvm::Function& function_;
  llvm::ArrayRef<llvm::Type*> elements_;
  MatrixForm form_;
  llvm::IRBuilder<> b_;
};

}  // namespace

llvm::Function* matrix_multiply_function(llvm::Module& module, const Collective& collective, MatrixForm form) {
  llvm::IRBuilder<> b(module.getContext());
  const std::array<llvm::Type*, 4> elements{
      scalar_type(b, collective.operands[0]), scalar_type(b, collective.operands[1]),
      scalar_type(b, collective.operands[2]), scalar_type(b, collective.element)};
  std::string name = form == MatrixForm::rows ? "smelt.multiply_rows" : "smelt.multiply_slots";
  for (llvm::Type* type : elements) name += type->isHalfTy() ? ".half" : type->isBFloatTy() ? ".bfloat" : ".float";
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::Type* pointer = b.getPtrTy();
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, pointer, pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::NoInline);
  function->setOnlyAccessesArgMemory();
  for (llvm::Argument& argument : function->args()) {
    argument.addAttr(llvm::Attribute::NoAlias);
    argument.addAttr(llvm::Attribute::NoCapture);
    argument.addAttr(argument.getArgNo() < 3 ? llvm::Attribute::ReadOnly : llvm::Attribute::WriteOnly);
  }
  MultiplyFunction(*function, elements, form).emit();
  return function;
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
