// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the module that work on matrices in memory (collectives.hpp): a product, and loads that are no copies of
// eight lines.
#include "abi/memory_function.hpp"
#include "lower/collectives.hpp"
#include "lower/matrix.hpp"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::cpu {

using llvm::Value;
using namespace matrix;

namespace {

const char* suffix_of(const llvm::Type* element) {
  return element->isHalfTy() ? ".half" : element->isBFloatTy() ? ".bfloat" : ".float";
}

/// `void (...)`, to be filled, whose last parameter is where the result goes.
llvm::Function* make_function(llvm::Module& module, const std::string& name, llvm::ArrayRef<llvm::Type*> parameters) {
  llvm::Function* function = make_memory_function(module, name, parameters);
  function->setOnlyAccessesArgMemory();
  for (llvm::Argument& argument : function->args()) {
    if (!argument.getType()->isPointerTy()) continue;
    const bool is_result = argument.getArgNo() + 1 == function->arg_size();
    argument.addAttr(is_result ? llvm::Attribute::WriteOnly : llvm::Attribute::ReadOnly);
  }
  return function;
}

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
    if (form_ == MatrixForm::slots) {
      factors = b_.CreateAlloca(llvm::ArrayType::get(b_.getFloatTy(), kElements));
      const auto left = rows_of(0);
      for (unsigned row = 0; row < kSide; ++row)
        b_.CreateAlignedStore(left[row], at(factors, b_.getFloatTy(), row * kSide), llvm::Align(4));
    }
    const auto right = rows_of(1);
    llvm::SmallVector<Value*, 8> sums = rows_of(2);
    for (unsigned row = 0; row < kSide; ++row)
      for (unsigned k = 0; k < kSide; ++k) {
        Value* factor =
            b_.CreateAlignedLoad(b_.getFloatTy(), at(factors, b_.getFloatTy(), row * kSide + k), llvm::Align(4));
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
  std::array<llvm::Type*, 4> elements{scalar_type(b, collective.operands[0]), scalar_type(b, collective.operands[1]),
                                      scalar_type(b, collective.operands[2]), scalar_type(b, collective.element)};
  if (form == MatrixForm::rows) elements[0] = elements[1] = b.getFloatTy();
  std::string name = form == MatrixForm::rows ? "smelt.multiply_rows" : "smelt.multiply_slots";
  for (llvm::Type* type : elements) name += suffix_of(type);
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::Type* pointer = b.getPtrTy();
  llvm::Function* function = make_function(module, name, {pointer, pointer, pointer, pointer});
  MultiplyFunction(*function, elements, form).emit();
  return function;
}

namespace {

/// Eight lines of eight, each of which becomes a column: three times the first half is woven with the second.
llvm::SmallVector<Value*, 8> emit_transposed_lines(llvm::IRBuilderBase& b, llvm::SmallVector<Value*, 8> lines) {
  constexpr int kLow[] = {0, 8, 1, 9, 2, 10, 3, 11};
  constexpr int kHigh[] = {4, 12, 5, 13, 6, 14, 7, 15};
  for (unsigned round = 0; round < 3; ++round) {
    llvm::SmallVector<Value*, 8> woven;
    for (unsigned i = 0; i < kSide / 2; ++i) {
      woven.push_back(b.CreateShuffleVector(lines[i], lines[i + kSide / 2], kLow));
      woven.push_back(b.CreateShuffleVector(lines[i], lines[i + kSide / 2], kHigh));
    }
    lines = std::move(woven);
  }
  return lines;
}

/// Floats from what `line` gives for each row.
void store_floats(llvm::IRBuilderBase& b, Value* result, llvm::function_ref<Value*(unsigned)> line_of) {
  for (unsigned row = 0; row < kSide; ++row) {
    Value* line = line_of(row);
    if (is_small_float(line->getType()->getScalarType())) line = emit_to_float(b, line);
    b.CreateAlignedStore(line, b.CreateConstInBoundsGEP1_64(b.getFloatTy(), result, row * kSide), llvm::Align(32));
  }
}

/// `void (source, step, result)`: line i, a row or a column of the matrix, lies at source + i * step elements.
llvm::Function* load_lines_function(llvm::Module& module, llvm::Type* element, bool are_columns, bool as_floats) {
  const std::string name = std::string(are_columns ? "smelt.load_columns" : "smelt.load_rows") + suffix_of(element) +
                           (as_floats ? ".as_floats" : "");
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::IRBuilder<> b(module.getContext());
  llvm::Function* function = make_function(module, name, {b.getPtrTy(), b.getInt64Ty(), b.getPtrTy()});
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  // Of integers: the code generator takes vectors of bfloat apart.
  llvm::Type* bits = b.getIntNTy(element->getScalarSizeInBits());
  const Place source{function->getArg(0), function->getArg(1), b.getInt64(1)};
  llvm::SmallVector<Value*, 8> lines;
  for (unsigned i = 0; i < kSide; ++i) {
    Value* line = emit_address(b, bits, source, i, 0);
    lines.push_back(b.CreateAlignedLoad(llvm::FixedVectorType::get(bits, kSide), line, element_alignment(element)));
  }
  if (are_columns) lines = emit_transposed_lines(b, std::move(lines));
  if (as_floats)
    store_floats(b, function->getArg(2),
                 [&](unsigned row) { return b.CreateBitCast(lines[row], llvm::FixedVectorType::get(element, kSide)); });
  for (unsigned i = 0; i < kSide && !as_floats; ++i)
    b.CreateAlignedStore(lines[i], b.CreateConstInBoundsGEP1_64(bits, function->getArg(2), i * kSide),
                         llvm::Align(kSide * bits->getIntegerBitWidth() / 8));
  b.CreateRetVoid();
  return function;
}

/// `void (source, row step, column step, result)`.
llvm::Function* load_elements_function(llvm::Module& module, llvm::Type* element) {
  const std::string name = std::string("smelt.load_elements") + suffix_of(element);
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::IRBuilder<> b(module.getContext());
  llvm::Type* step = b.getInt64Ty();
  llvm::Function* function = make_function(module, name, {b.getPtrTy(), step, step, b.getPtrTy()});
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  llvm::Type* bits = b.getIntNTy(element->getScalarSizeInBits());
  const Place source{function->getArg(0), function->getArg(1), function->getArg(2)};
  for (unsigned i = 0; i < kElements; ++i) {
    Value* from = emit_address(b, bits, source, i / kSide, i % kSide);
    Value* to = b.CreateConstInBoundsGEP1_64(bits, function->getArg(3), i);
    b.CreateAlignedStore(b.CreateAlignedLoad(bits, from, element_alignment(element)), to, element_alignment(element));
  }
  b.CreateRetVoid();
  return function;
}

/// `void (matrix, floats)`.
llvm::Function* widen_function(llvm::Module& module, llvm::Type* element) {
  const std::string name = std::string("smelt.widen_matrix") + suffix_of(element);
  if (llvm::Function* made = module.getFunction(name)) return made;
  llvm::Type* pointer = llvm::PointerType::get(module.getContext(), 0);
  llvm::Function* function = make_function(module, name, {pointer, pointer});
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  store_floats(b, function->getArg(1), [&](unsigned row) {
    return b.CreateAlignedLoad(llvm::FixedVectorType::get(element, kSide),
                               b.CreateConstInBoundsGEP1_64(element, function->getArg(0), row * kSide),
                               element_alignment(element));
  });
  b.CreateRetVoid();
  return function;
}

}  // namespace

void emit_matrix_widened_to(llvm::IRBuilderBase& b, Value* matrix, Value* place, Value* result) {
  if (place != nullptr) {
    llvm::Module& module = *b.GetInsertBlock()->getModule();
    b.CreateCall(widen_function(module, matrix->getType()->getScalarType()), {place, result});
    return;
  }
  store_floats(b, result, [&](unsigned row) { return emit_part(b, matrix, row * kSide, kSide); });
}

llvm::CallInst* emit_matrix_load_to(llvm::IRBuilderBase& b, const Collective& collective,
                                    llvm::ArrayRef<Value*> operands, Value* result, bool as_floats) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::Type* element = scalar_type(b, collective.element);
  const Place place = emit_place(b, element, operands);
  Value* base = b.CreateAddrSpaceCast(place.base, b.getPtrTy());
  if (is_one(place.column_step))
    return b.CreateCall(load_lines_function(module, element, false, as_floats), {base, place.row_step, result});
  if (is_one(place.row_step))
    return b.CreateCall(load_lines_function(module, element, true, as_floats), {base, place.column_step, result});
  if (as_floats) return nullptr;
  return b.CreateCall(load_elements_function(module, element), {base, place.row_step, place.column_step, result});
}

}  // namespace smelt::aot::cpu
