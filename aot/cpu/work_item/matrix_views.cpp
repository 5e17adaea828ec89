// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread owns two elements of its `<64 x T>` (lower/collectives.hpp), and only they mean anything. LLVM gives memory
// that is written as a matrix and read in other pieces one type, and puts casts round it:
//
//   %v = bitcast <64 x float> %m to <32 x i64>       ->  %a = extractelement <64 x float> %m, i64 0 (and 1)
//   %x = extractelement <32 x i64> %v, i64 0             %x = %a | %b << 32, of their bits
//   %w = insertelement <32 x i64> %v, i64 %y, i64 0  ->  %n = insertelement of both halves of %y into %m
//   %n = bitcast <32 x i64> %w to <64 x float>
#include "work_item/matrix_views.hpp"

#include "lower/collectives.hpp"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/Local.h"

#include <optional>

namespace smelt::aot::cpu {
namespace {

constexpr unsigned kMatrixElements = 64;
constexpr unsigned kOwnElements = 2;

llvm::FixedVectorType* as_matrix(llvm::Type* type) {
  auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector != nullptr && vector->getNumElements() == kMatrixElements ? vector : nullptr;
}

bool is_view(const llvm::Type* type) {
  const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector != nullptr && vector->getNumElements() != kMatrixElements;
}

unsigned element_bits(const llvm::Value& value) {
  return value.getType()->getScalarSizeInBits();
}

std::optional<uint64_t> constant_index(const llvm::Value* index) {
  const auto* const number = llvm::dyn_cast<llvm::ConstantInt>(index);
  return number != nullptr ? std::optional(number->getLimitedValue()) : std::nullopt;
}

class Views {
 public:
  explicit Views(llvm::Function& function) : function_(function) {}

  void undo() {
    llvm::SmallVector<llvm::WeakTrackingVH> from_matrix, to_matrix;
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      auto* const cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
      if (cast == nullptr) continue;
      if (as_matrix(cast->getSrcTy()) && is_view(cast->getDestTy())) from_matrix.push_back(cast);
      if (as_matrix(cast->getDestTy()) && is_view(cast->getSrcTy())) to_matrix.push_back(cast);
    }
    for (llvm::Value* const value : to_matrix) {
      auto* const cast = llvm::cast<llvm::BitCastInst>(value);
      llvm::FixedVectorType& type = *as_matrix(cast->getDestTy());
      llvm::SmallPtrSet<const llvm::Value*, 8> seen;
      if (has_matrix(*cast->getOperand(0), type, seen)) cast->replaceAllUsesWith(matrix_of(*cast->getOperand(0), type));
    }
    for (llvm::Value* const value : from_matrix) {
      auto* const cast = llvm::cast<llvm::BitCastInst>(value);
      for (llvm::User* user : llvm::make_early_inc_range(cast->users()))
        if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(user))
          read_from_matrix(*extract, *cast->getOperand(0));
    }
    for (auto* casts : {&to_matrix, &from_matrix})
      for (llvm::WeakTrackingVH& cast : *casts)
        if (cast) llvm::RecursivelyDeleteTriviallyDeadInstructions(llvm::cast<llvm::Instruction>(cast));
  }

 private:
  /// Whether there is a matrix of which `view` shows the bits.
  static bool has_matrix(const llvm::Value& view, const llvm::FixedVectorType& type,
                         llvm::SmallPtrSetImpl<const llvm::Value*>& seen) {
    if (llvm::isa<llvm::ConstantData>(view) || llvm::isa<llvm::ConstantVector>(view)) return true;
    if (!seen.insert(&view).second) return true;
    if (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&view)) return cast->getSrcTy() == &type;
    if (const auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&view))
      return constant_index(insert->getOperand(2)) && has_matrix(*insert->getOperand(0), type, seen);
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&view))
      return llvm::all_of(phi->incoming_values(), [&](const llvm::Use& use) { return has_matrix(*use, type, seen); });
    const auto* const select = llvm::dyn_cast<llvm::SelectInst>(&view);
    return select != nullptr && !select->getCondition()->getType()->isVectorTy() &&
           has_matrix(*select->getTrueValue(), type, seen) && has_matrix(*select->getFalseValue(), type, seen);
  }

  /// That matrix.
  llvm::Value* matrix_of(llvm::Value& view, llvm::FixedVectorType& type) {
    llvm::Value*& known = matrices_[{&view, &type}];
    if (known != nullptr) return known;
    llvm::Value* const made = make_matrix(view, type);
    return matrices_[{&view, &type}] = made;
  }

  llvm::Value* make_matrix(llvm::Value& view, llvm::FixedVectorType& type) {
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(&view))
      return llvm::ConstantFoldCastOperand(llvm::Instruction::BitCast, constant, &type,
                                           function_.getParent()->getDataLayout());
    if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&view)) return cast->getOperand(0);
    if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&view)) return with_element(*insert, type);
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&view)) {
      llvm::IRBuilder<> builder(phi);
      llvm::PHINode* const made = builder.CreatePHI(&type, phi->getNumIncomingValues());
      matrices_[{phi, &type}] = made;  // it may be a part of what comes in
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
        made->addIncoming(matrix_of(*phi->getIncomingValue(i), type), phi->getIncomingBlock(i));
      return made;
    }
    auto* const select = llvm::cast<llvm::SelectInst>(&view);
    llvm::Value* const one = matrix_of(*select->getTrueValue(), type);
    llvm::Value* const other = matrix_of(*select->getFalseValue(), type);
    llvm::IRBuilder<> builder(select);
    return builder.CreateSelect(select->getCondition(), one, other);
  }

  // What an element of a view covers is a number of whole elements of the matrix, or a part of one: both have a power
  // of two of bits. Elements are not mixed: one that was never written spoils no other.

  llvm::Value* bits_of(llvm::IRBuilder<>& builder, llvm::Value& matrix, uint64_t element) {
    return builder.CreateBitCast(builder.CreateExtractElement(&matrix, element),
                                 builder.getIntNTy(element_bits(matrix)));
  }

  llvm::Value* with_bits(llvm::IRBuilder<>& builder, llvm::Value* matrix, uint64_t element, llvm::Value* bits) {
    llvm::Value* const value = builder.CreateBitCast(bits, matrix->getType()->getScalarType());
    return builder.CreateInsertElement(matrix, value, element);
  }

  llvm::Value* with_element(llvm::InsertElementInst& insert, llvm::FixedVectorType& type) {
    llvm::Value* matrix = matrix_of(*insert.getOperand(0), type);
    const uint64_t index = *constant_index(insert.getOperand(2));
    const unsigned own = type.getScalarSizeInBits(), seen = element_bits(insert);
    if (index >= kOwnElements * own) return matrix;  // and no product of the two is too large
    llvm::IRBuilder<> builder(&insert);
    llvm::Value* const written = builder.CreateBitCast(insert.getOperand(1), builder.getIntNTy(seen));
    const uint64_t first = index * seen / own;
    if (seen >= own) {
      for (uint64_t i = 0; i < seen / own && first + i < kOwnElements; ++i)
        matrix = with_bits(builder, matrix, first + i,
                           builder.CreateTrunc(builder.CreateLShr(written, i * own), builder.getIntNTy(own)));
      return matrix;
    }
    if (first >= kOwnElements) return matrix;
    const auto low = static_cast<unsigned>(index * seen % own);
    llvm::Value* const kept = builder.CreateAnd(bits_of(builder, *matrix, first),
                                                builder.getInt(~llvm::APInt::getBitsSet(own, low, low + seen)));
    llvm::Value* const moved = builder.CreateShl(builder.CreateZExt(written, builder.getIntNTy(own)), low);
    return with_bits(builder, matrix, first, builder.CreateOr(kept, moved));
  }

  void read_from_matrix(llvm::ExtractElementInst& extract, llvm::Value& matrix) {
    const auto index = constant_index(extract.getIndexOperand());
    if (!index) return;
    const unsigned own = element_bits(matrix), seen = element_bits(*extract.getVectorOperand());
    llvm::IRBuilder<> builder(&extract);
    llvm::Type* const type = builder.getIntNTy(seen);
    llvm::Value* bits = nullptr;
    const uint64_t first = *index < kOwnElements * own ? *index * seen / own : kOwnElements;
    if (first < kOwnElements && seen < own) {
      bits = builder.CreateTrunc(builder.CreateLShr(bits_of(builder, matrix, first), *index * seen % own), type);
    } else if (first < kOwnElements) {
      bits = builder.getIntN(seen, 0);
      for (uint64_t i = 0; i < seen / own && first + i < kOwnElements; ++i)
        bits = builder.CreateOr(
            bits, builder.CreateShl(builder.CreateZExt(bits_of(builder, matrix, first + i), type), i * own));
    }
    llvm::Value* const read =
        bits != nullptr ? builder.CreateBitCast(bits, extract.getType()) : llvm::PoisonValue::get(extract.getType());
    extract.replaceAllUsesWith(read);
    extract.eraseFromParent();
  }

  llvm::Function& function_;
  llvm::DenseMap<std::pair<llvm::Value*, llvm::Type*>, llvm::Value*> matrices_;
};

}  // namespace

void undo_matrix_views(llvm::Function& function) {
  Views(function).undo();
}

}  // namespace smelt::aot::cpu
