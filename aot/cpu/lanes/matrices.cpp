// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on simdgroup matrices: what one is made of lies in memory, where products and loads are calls.
// docs/design/cpu-lanes.md 3, step 10.
#include "lanes/collectives.hpp"
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

llvm::IRBuilder<> Collectives::builder_behind(llvm::Value* made) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(made);
  if (!instruction) return llvm::IRBuilder<>(gang_.target.getEntryBlock().getTerminator());
  llvm::BasicBlock* block = instruction->getParent();
  const bool is_phi = llvm::isa<llvm::PHINode>(instruction);
  return {block, is_phi ? block->getFirstInsertionPt() : std::next(instruction->getIterator())};
}

llvm::AllocaInst* Collectives::in_memory(llvm::Value* matrix) {
  llvm::AllocaInst*& place = in_memory_[matrix];
  if (place) return place;
  place = gang_.allocate(gang_.layout.getTypeStoreSize(matrix->getType()).getFixedValue());
  mark_matrix_memory(*place);
  llvm::IRBuilder<> builder = builder_behind(matrix);
  builder.CreateAlignedStore(matrix, place, place->getAlign());
  return place;
}

llvm::AllocaInst* Collectives::floats_in_memory(llvm::Value* matrix) {
  llvm::AllocaInst* plain = in_memory_.lookup(matrix);
  if (plain && matrix->getType()->getScalarType()->isFloatTy()) return plain;
  llvm::AllocaInst*& place = floats_in_memory_[matrix];
  if (place) return place;
  place = gang_.allocate(64 * sizeof(float));
  mark_matrix_memory(*place);
  llvm::IRBuilder<> builder = builder_behind(matrix);
  const auto load = std::find_if(matrix_loads_.begin(), matrix_loads_.end(),
                                 [&](const MatrixLoad& one) { return one.value == matrix; });
  if (load == matrix_loads_.end() || !emit_matrix_load_to(builder, load->collective, load->operands, place, true))
    emit_matrix_widened_to(builder, matrix, plain, place);
  return place;
}

llvm::Value* Collectives::load_matrix(llvm::Type* type, const Collective& collective,
                                      llvm::ArrayRef<llvm::Value*> operands) {
  llvm::AllocaInst* result = gang_.allocate(gang_.layout.getTypeStoreSize(type).getFixedValue());
  mark_matrix_memory(*result);
  llvm::CallInst* call = emit_matrix_load_to(builder_, collective, operands, result);
  llvm::LoadInst* matrix = builder_.CreateAlignedLoad(type, result, result->getAlign());
  in_memory_[matrix] = result;
  if (!type->getScalarType()->isFloatTy())
    matrix_loads_.push_back({matrix, call, collective, llvm::SmallVector<llvm::Value*, 5>(operands)});
  return matrix;
}

// Matrices of small floats that were only wanted as floats.
void Collectives::drop_unused_matrix_loads() {
  for (const MatrixLoad& load : matrix_loads_) {
    auto* place = llvm::cast<llvm::AllocaInst>(load.value->getPointerOperand());
    if (!load.value->use_empty() || !place->hasNUses(2)) continue;
    load.value->eraseFromParent();
    load.call->eraseFromParent();
    place->eraseFromParent();
  }
}

llvm::Value* Collectives::multiply(llvm::Type* type, const Collective& collective,
                                   llvm::ArrayRef<llvm::Value*> matrices) {
  llvm::SmallVector<llvm::Value*, 4> places;
  for (llvm::Value* factor : matrices.take_front(2)) places.push_back(floats_in_memory(factor));
  places.push_back(in_memory(matrices[2]));
  llvm::AllocaInst* result = gang_.allocate(gang_.layout.getTypeStoreSize(type).getFixedValue());
  mark_matrix_memory(*result);
  places.push_back(result);
  builder_.CreateCall(matrix_multiply_function(*gang_.target.getParent(), collective, MatrixForm::rows), places);
  llvm::Value* product = builder_.CreateAlignedLoad(type, result, result->getAlign());
  in_memory_[product] = result;
  return product;
}

bool Collectives::multiply_elements(llvm::CallInst& call, const Collective& collective) {
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
    places.push_back(gang_.scratch(number, 2 * gang_.layout.getTypeStoreSize(gang_.wide(element)).getFixedValue()));
    return places.back();
  };
  const auto slot_of = [&](llvm::Value* base, llvm::Type* element, unsigned slot) {
    return builder_.CreateConstInBoundsGEP1_64(element, base, slot * kSimdWidth);
  };
  for (unsigned i = 0; i < operands.size(); ++i) {
    llvm::Type* element = call.getArgOperand(i)->getType()->getScalarType();
    llvm::Value* base = place(i, element);
    for (const unsigned slot : {0u, 1u}) {
      llvm::Value* lanes = active_or(gang_.part(operands[i][slot]), llvm::Constant::getNullValue(gang_.wide(element)));
      builder_.CreateAlignedStore(lanes, slot_of(base, element, slot), llvm::Align(64));
    }
  }
  llvm::Type* element = call.getType()->getScalarType();
  llvm::Value* result = place(3, element);
  builder_.CreateCall(matrix_multiply_function(*gang_.target.getParent(), collective, MatrixForm::slots), places);
  for (const unsigned slot : {0u, 1u})
    slots_[&call].push_back(
        builder_.CreateAlignedLoad(gang_.wide(element), slot_of(result, element, slot), llvm::Align(64)));
  return true;
}

void Collectives::emit_matrix_operation(llvm::CallInst& call, const Collective& collective) {
  if (collective.kind == CollectiveKind::matrix_multiply_accumulate && multiply_elements(call, collective)) return;
  llvm::SmallVector<llvm::Value*, 5> operands;
  for (llvm::Value* operand : call.args()) {
    operands.push_back(is_matrix_type(operand->getType()) ? gang_.matrix(operand) : of_first_lane(operand));
  }
  switch (collective.kind) {
    case CollectiveKind::matrix_load:
      gang_.set_scalar(&call, load_matrix(call.getType(), collective, operands));
      return;
    case CollectiveKind::matrix_store:
      emit_matrix_store(builder_, collective, operands);
      return;
    case CollectiveKind::matrix_multiply_accumulate:
      gang_.set_scalar(&call, multiply(call.getType(), collective, operands));
      return;
    case CollectiveKind::matrix_diagonal:
      gang_.set_scalar(&call, emit_matrix_diagonal(builder_, operands[0]));
      return;
    default:
      gang_.set_scalar(&call, emit_matrix_filled(builder_, operands[0]));
      return;
  }
}

// Copies, choices and element accesses of whole matrices; operations on them are collectives.
void Collectives::emit_matrix(llvm::Instruction& instruction) {
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    llvm::Value* on = gang_.matrix(select->getTrueValue());
    llvm::Value* off = gang_.matrix(select->getFalseValue());
    const bool same = gang_.shape(select->getCondition()).is_uniform();
    gang_.set_scalar(select, same ? builder_.CreateSelect(gang_.scalar(select->getCondition()), on, off)
                                  : gang_.blend_matrix(gang_.part(select->getCondition()), on, off));
    return;
  }
  if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
    const uint64_t slot = llvm::cast<llvm::ConstantInt>(insert->getOperand(2))->getZExtValue();
    llvm::Value* old = gang_.matrix(insert->getOperand(0));
    llvm::Value* changed =
        emit_matrix_with_slot(builder_, old, static_cast<unsigned>(slot), gang_.part(insert->getOperand(1)));
    gang_.set_scalar(insert, gang_.blend_matrix(gang_.mask(), changed, old));
    return;
  }
  llvm::Instruction* copy = instruction.clone();  // freeze, and loads of spilled matrices
  for (llvm::Use& use : copy->operands())
    use.set(is_matrix_type(use->getType()) ? gang_.matrix(use) : gang_.scalar(use));
  copy->dropUnknownNonDebugMetadata();
  gang_.set_scalar(&instruction, builder_.Insert(copy));
}

void Collectives::emit_matrix_element(llvm::ExtractElementInst& extract) {
  llvm::Value* vector = extract.getVectorOperand();
  const uint64_t slot = llvm::cast<llvm::ConstantInt>(extract.getIndexOperand())->getZExtValue();
  const auto product = slots_.find(vector);
  gang_.set_parts(&extract, {product != slots_.end()
                                 ? product->second[slot]
                                 : emit_matrix_slot(builder_, gang_.matrix(vector), static_cast<unsigned>(slot))});
}

}  // namespace smelt::aot::cpu::lanes
