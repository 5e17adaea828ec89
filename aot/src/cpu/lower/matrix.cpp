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

llvm::Function* matrix_multiply_function(llvm::Module& module, const Collective& collective) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::Type* const types[] = {scalar_type(b, collective.operands[0]), scalar_type(b, collective.operands[1]),
                               scalar_type(b, collective.operands[2]), scalar_type(b, collective.element)};
  std::string name = "smelt.matrix_multiply";
  for (llvm::Type* type : types) name += type->isHalfTy() ? ".half" : type->isBFloatTy() ? ".bfloat" : ".float";
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
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  const auto place = [&](Value* matrix, unsigned operand, unsigned index) {
    return b.CreateConstInBoundsGEP1_64(types[operand], matrix, index);
  };
  const auto row_of = [&](unsigned operand, unsigned row) {
    Value* line = b.CreateAlignedLoad(llvm::FixedVectorType::get(types[operand], kSide),
                                      place(function->getArg(operand), operand, row * kSide),
                                      llvm::Align(kSide * types[operand]->getScalarSizeInBits() / 8));
    return is_small_float(types[operand]) ? emit_to_float(b, line) : line;
  };
  // Factors are loaded one by one into all places of a register: from floats.
  Value* factors = function->getArg(0);
  if (is_small_float(types[0])) {
    llvm::AllocaInst* wide = b.CreateAlloca(llvm::FixedVectorType::get(b.getFloatTy(), kElements));
    for (unsigned row = 0; row < kSide; ++row)
      b.CreateAlignedStore(row_of(0, row), b.CreateConstInBoundsGEP1_64(b.getFloatTy(), wide, row * kSide),
                           llvm::Align(32));
    factors = wide;
  }
  llvm::SmallVector<Value*, kSide> right;
  for (unsigned k = 0; k < kSide; ++k) right.push_back(row_of(1, k));
  for (unsigned row = 0; row < kSide; ++row) {
    Value* sum = row_of(2, row);
    for (unsigned k = 0; k < kSide; ++k) {
      Value* at = b.CreateConstInBoundsGEP1_64(b.getFloatTy(), factors, row * kSide + k);
      Value* factor = b.CreateVectorSplat(kSide, b.CreateAlignedLoad(b.getFloatTy(), at, llvm::Align(4)));
      sum = b.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {factor, right[k], sum});
    }
    if (is_small_float(types[3])) sum = emit_from_float(b, sum, types[3]);
    b.CreateAlignedStore(sum, place(function->getArg(3), 3, row * kSide),
                         llvm::Align(kSide * types[3]->getScalarSizeInBits() / 8));
  }
  b.CreateRetVoid();
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
