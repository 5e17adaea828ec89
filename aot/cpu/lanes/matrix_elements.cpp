// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread owns two elements of its `<64 x T>`, at positions 0 and 1 (lower/collectives.hpp); whatever else an
// instruction does with the vector means nothing. Optimisers leave shuffles between `<2 x T>` and `<64 x T>`, and sums
// of whole matrices: here they become extracts and inserts of the two, which are what the emitter knows.
#include "lanes/prepare.hpp"
#include "lanes/shapes.hpp"
#include "llvm_support/analyses.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace smelt::aot::cpu::lanes {
namespace {

constexpr unsigned kOwned = 2;

llvm::Value* element_of(llvm::IRBuilder<>& builder, llvm::Value* vector, unsigned index) {
  const unsigned count = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  if (index >= (is_matrix_type(vector->getType()) ? kOwned : count))
    return llvm::PoisonValue::get(vector->getType()->getScalarType());
  return builder.CreateExtractElement(vector, index);
}

/// A matrix of which `element` gives what the thread owns.
template <class Element>
llvm::Value* matrix_of(llvm::IRBuilder<>& builder, llvm::Type* type, Element element) {
  llvm::Value* matrix = llvm::Constant::getNullValue(type);
  for (unsigned i = 0; i < kOwned; ++i)
    if (llvm::Value* value = element(i); !llvm::isa<llvm::PoisonValue>(value))
      matrix = builder.CreateInsertElement(matrix, value, i);
  return matrix;
}

llvm::Value* by_elements(llvm::ShuffleVectorInst& shuffle) {
  llvm::IRBuilder<> builder(&shuffle);
  const int width =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(shuffle.getOperand(0)->getType())->getNumElements());
  const auto element = [&](unsigned i) -> llvm::Value* {
    const int at = shuffle.getMaskValue(i);
    if (at < 0) return llvm::PoisonValue::get(shuffle.getType()->getScalarType());
    return element_of(builder, shuffle.getOperand(at < width ? 0 : 1), static_cast<unsigned>(at % width));
  };
  if (is_matrix_type(shuffle.getType())) return matrix_of(builder, shuffle.getType(), element);
  llvm::Value* result = llvm::PoisonValue::get(shuffle.getType());
  for (unsigned i = 0; i < shuffle.getShuffleMask().size(); ++i)
    if (llvm::Value* value = element(i); !llvm::isa<llvm::PoisonValue>(value))
      result = builder.CreateInsertElement(result, value, i);
  return result;
}

/// Arithmetic and conversions, of which every operand is a matrix.
llvm::Value* by_elements(llvm::Instruction& operation) {
  llvm::IRBuilder<> builder(&operation);
  return matrix_of(builder, operation.getType(), [&](unsigned i) -> llvm::Value* {
    llvm::SmallVector<llvm::Value*, 2> operands;
    for (llvm::Value* operand : operation.operands()) operands.push_back(element_of(builder, operand, i));
    llvm::Instruction* copy = operation.clone();
    for (unsigned k = 0; k < operands.size(); ++k) copy->setOperand(k, operands[k]);
    copy->mutateType(operation.getType()->getScalarType());
    return builder.Insert(copy);
  });
}

llvm::Value* replacement_of(llvm::Instruction& instruction) {
  const auto is_matrix = [](const llvm::Value* value) { return is_matrix_type(value->getType()); };
  if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction))
    return is_matrix(shuffle) || is_matrix(shuffle->getOperand(0)) ? by_elements(*shuffle) : nullptr;
  if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) {
    const auto* index = llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand());
    const bool foreign = is_matrix(extract->getVectorOperand()) && index != nullptr && index->getValue().uge(kOwned);
    return foreign ? llvm::PoisonValue::get(extract->getType()) : nullptr;
  }
  if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
    const auto* index = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    const bool foreign = is_matrix(insert) && index != nullptr && index->getValue().uge(kOwned);
    return foreign ? insert->getOperand(0) : nullptr;
  }
  const bool elementwise = instruction.isBinaryOp() || instruction.isUnaryOp() || instruction.isCast();
  return elementwise && is_matrix(&instruction) && llvm::all_of(instruction.operands(), is_matrix)
             ? by_elements(instruction)
             : nullptr;
}

/// Where both elements are put in one after the other, nothing is left of what was there before.
void forget_base(llvm::InsertElementInst& last) {
  auto* first = llvm::dyn_cast<llvm::InsertElementInst>(last.getOperand(0));
  if (first == nullptr || !first->hasOneUse() || !is_matrix_type(last.getType())) return;
  const auto* one = llvm::dyn_cast<llvm::ConstantInt>(first->getOperand(2));
  const auto* two = llvm::dyn_cast<llvm::ConstantInt>(last.getOperand(2));
  if (one == nullptr || two == nullptr || one->getValue() == two->getValue()) return;
  first->setOperand(0, llvm::Constant::getNullValue(first->getType()));
}

}  // namespace

void split_matrices(llvm::Function& function) {
  const auto has_matrix = [](const llvm::Instruction& instruction) { return is_matrix_type(instruction.getType()); };
  if (llvm::none_of(llvm::instructions(function), has_matrix)) return;
  llvm::SmallVector<llvm::Instruction*, 32> replaced;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (llvm::Value* value = replacement_of(instruction)) {
      instruction.replaceAllUsesWith(value);
      replaced.push_back(&instruction);
    }
  for (llvm::Instruction* instruction : replaced) instruction->eraseFromParent();
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) forget_base(*insert);
  run_passes(function, "adce");  // loops may still carry what was forgotten
}

}  // namespace smelt::aot::cpu::lanes
