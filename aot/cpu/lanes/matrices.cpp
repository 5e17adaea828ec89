// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on simdgroup matrices: what one is made of lies in memory, where products and loads are calls.
// docs/design/cpu-lanes.md 3, step 10.
#include "lanes/emit.hpp"
#include "lanes/matrix_memory.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>

namespace smelt::aot::cpu::lanes {
namespace {

// The two elements of a matrix that is nothing but them.
std::optional<std::array<llvm::Value*, 2>> elements_put_together(llvm::Value* matrix) {
  auto* last = llvm::dyn_cast<llvm::InsertElementInst>(matrix);
  auto* first = last ? llvm::dyn_cast<llvm::InsertElementInst>(last->getOperand(0)) : nullptr;
  if (!first) return std::nullopt;
  std::array<llvm::Value*, 2> elements{};
  for (llvm::InsertElementInst* insert : {first, last}) {
    const auto* slot = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    if (!slot || slot->getValue().uge(2)) return std::nullopt;
    elements[slot->getZExtValue()] = insert->getOperand(1);
  }
  if (!elements[0] || !elements[1]) return std::nullopt;
  return elements;
}

}  // namespace

void Emitter::set_insert_point_behind(llvm::IRBuilder<>& builder, llvm::Value* made) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(made);
  if (!instruction) return builder.SetInsertPoint(target_.getEntryBlock().getTerminator());
  llvm::BasicBlock* block = instruction->getParent();
  builder.SetInsertPoint(block, llvm::isa<llvm::PHINode>(instruction) ? block->getFirstInsertionPt()
                                                                      : std::next(instruction->getIterator()));
}

llvm::AllocaInst* Emitter::in_memory(llvm::Value* matrix) {
  llvm::AllocaInst*& place = in_memory_[matrix];
  if (place) return place;
  place = memory(layout_.getTypeStoreSize(matrix->getType()).getFixedValue());
  mark_matrix_memory(*place);
  llvm::IRBuilder<> builder(context_);
  set_insert_point_behind(builder, matrix);
  builder.CreateAlignedStore(matrix, place, place->getAlign());
  return place;
}

llvm::AllocaInst* Emitter::floats_in_memory(llvm::Value* matrix) {
  llvm::AllocaInst* plain = in_memory_.lookup(matrix);
  if (plain && matrix->getType()->getScalarType()->isFloatTy()) return plain;
  llvm::AllocaInst*& place = floats_in_memory_[matrix];
  if (place) return place;
  place = memory(64 * sizeof(float));
  mark_matrix_memory(*place);
  llvm::IRBuilder<> builder(context_);
  set_insert_point_behind(builder, matrix);
  const auto load = std::find_if(matrix_loads_.begin(), matrix_loads_.end(),
                                 [&](const MatrixLoad& one) { return one.value == matrix; });
  if (load == matrix_loads_.end() || !emit_matrix_load_to(builder, load->collective, load->operands, place, true))
    emit_matrix_widened_to(builder, matrix, plain, place);
  return place;
}

llvm::Value* Emitter::load_matrix(llvm::Type* type, const Collective& collective,
                                  llvm::ArrayRef<llvm::Value*> operands) {
  llvm::AllocaInst* result = memory(layout_.getTypeStoreSize(type).getFixedValue());
  mark_matrix_memory(*result);
  llvm::CallInst* call = emit_matrix_load_to(builder_, collective, operands, result);
  llvm::LoadInst* matrix = builder_.CreateAlignedLoad(type, result, result->getAlign());
  in_memory_[matrix] = result;
  if (!type->getScalarType()->isFloatTy())
    matrix_loads_.push_back({matrix, call, collective, llvm::SmallVector<llvm::Value*, 5>(operands)});
  return matrix;
}

// Matrices of small floats that were only wanted as floats.
void Emitter::drop_unused_matrix_loads() {
  for (const MatrixLoad& load : matrix_loads_) {
    auto* place = llvm::cast<llvm::AllocaInst>(load.value->getPointerOperand());
    if (!load.value->use_empty() || !place->hasNUses(2)) continue;
    load.value->eraseFromParent();
    load.call->eraseFromParent();
    place->eraseFromParent();
  }
}

llvm::Value* Emitter::multiply(llvm::Type* type, const Collective& collective, llvm::ArrayRef<llvm::Value*> matrices) {
  llvm::SmallVector<llvm::Value*, 4> places;
  for (llvm::Value* factor : matrices.take_front(2)) places.push_back(floats_in_memory(factor));
  places.push_back(in_memory(matrices[2]));
  llvm::AllocaInst* result = memory(layout_.getTypeStoreSize(type).getFixedValue());
  mark_matrix_memory(*result);
  places.push_back(result);
  builder_.CreateCall(matrix_multiply_function(*target_.getParent(), collective, MatrixForm::rows), places);
  llvm::Value* product = builder_.CreateAlignedLoad(type, result, result->getAlign());
  in_memory_[product] = result;
  return product;
}

bool Emitter::multiply_elements(llvm::CallInst& call, const Collective& collective) {
  llvm::SmallVector<std::array<llvm::Value*, 2>, 3> operands;
  for (llvm::Value* matrix : call.args()) {
    const auto elements = elements_put_together(matrix);
    if (!elements) return false;
    operands.push_back(*elements);
  }
  if (!llvm::all_of(call.users(), [](llvm::User* user) { return llvm::isa<llvm::ExtractElementInst>(user); }))
    return false;
  llvm::SmallVector<llvm::Value*, 4> places;
  const auto place = [&](unsigned number, llvm::Type* element) {
    places.push_back(scratch(number, 2 * layout_.getTypeStoreSize(wide(element)).getFixedValue()));
    return places.back();
  };
  const auto slot_of = [&](llvm::Value* base, llvm::Type* element, unsigned slot) {
    return builder_.CreateConstInBoundsGEP1_64(element, base, slot * kSimdWidth);
  };
  for (unsigned i = 0; i < operands.size(); ++i) {
    llvm::Type* element = call.getArgOperand(i)->getType()->getScalarType();
    llvm::Value* base = place(i, element);
    for (const unsigned slot : {0u, 1u}) {
      llvm::Value* lanes = active_or(part(operands[i][slot]), llvm::Constant::getNullValue(wide(element)));
      builder_.CreateAlignedStore(lanes, slot_of(base, element, slot), llvm::Align(64));
    }
  }
  llvm::Type* element = call.getType()->getScalarType();
  llvm::Value* result = place(3, element);
  builder_.CreateCall(matrix_multiply_function(*target_.getParent(), collective, MatrixForm::slots), places);
  for (const unsigned slot : {0u, 1u})
    slots_[&call].push_back(builder_.CreateAlignedLoad(wide(element), slot_of(result, element, slot), llvm::Align(64)));
  return true;
}

void Emitter::emit_matrix_operation(llvm::CallInst& call, const Collective& collective) {
  if (collective.kind == CollectiveKind::matrix_multiply_accumulate && multiply_elements(call, collective)) return;
  llvm::SmallVector<llvm::Value*, 5> operands;
  for (llvm::Value* operand : call.args()) {
    operands.push_back(is_matrix_type(operand->getType()) ? matrix(operand) : of_first_lane(operand));
  }
  switch (collective.kind) {
    case CollectiveKind::matrix_load:
      scalars_[&call] = load_matrix(call.getType(), collective, operands);
      return;
    case CollectiveKind::matrix_store:
      emit_matrix_store(builder_, collective, operands);
      return;
    case CollectiveKind::matrix_multiply_accumulate:
      scalars_[&call] = multiply(call.getType(), collective, operands);
      return;
    case CollectiveKind::matrix_diagonal:
      scalars_[&call] = emit_matrix_diagonal(builder_, operands[0]);
      return;
    default:
      scalars_[&call] = emit_matrix_filled(builder_, operands[0]);
      return;
  }
}

}  // namespace smelt::aot::cpu::lanes
