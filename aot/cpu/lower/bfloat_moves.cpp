// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bfloat values that only move (loads, phis, selects, vector shuffles, stores) -> 16-bit integers.
//
// x86 keeps a bfloat that crosses blocks in a float register and converts it back by a library call, which a flat slice
// cannot have. As integers they cost nothing. Arithmetic has gone through float by now (small_float.cpp), so what is
// left of bfloat is casts. <64 x bfloat> stays: it is a matrix, and its own passes look for that type.
#include "lower/lower.hpp"
#include "lower/operation.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/NoFolder.h"
#include "llvm/Transforms/Utils/Local.h"

namespace smelt::aot::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

bool is_moved_bfloat(const llvm::Type* type) {
  if (!type->getScalarType()->isBFloatTy()) return false;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return !vector || vector->getNumElements() != 64;
}
llvm::Type* integer_type(llvm::Type* type) {
  return with_element(type, llvm::Type::getInt16Ty(type->getContext()));
}

class BfloatMoves {
 public:
  explicit BfloatMoves(llvm::Function& function) : function_(function), builder_(function.getContext()) {}

  void run() {
    llvm::SmallVector<Instruction*, 32> work;
    for (Instruction& instruction : llvm::instructions(function_)) work.push_back(&instruction);
    for (Instruction* instruction : work) visit(*instruction);
    for (const auto& [old, replacement] : phis_) {
      for (unsigned i = 0; i < old->getNumIncomingValues(); ++i) {
        builder_.SetInsertPoint(old->getIncomingBlock(i)->getTerminator());
        replacement->addIncoming(as_integer(old->getIncomingValue(i)), old->getIncomingBlock(i));
      }
    }
    for (const auto& [old, replacement] : phis_) old->eraseFromParent();
    for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function_)))
      if (llvm::isa<llvm::BitCastInst>(instruction) && instruction.use_empty()) instruction.eraseFromParent();
  }

 private:
  /// The bits of a bfloat value, at the builder's place.
  Value* as_integer(Value* value) {
    llvm::Type* type = integer_type(value->getType());
    if (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value))
      if (cast->getSrcTy() == type) return cast->getOperand(0);
    return builder_.CreateBitCast(value, type);
  }
  void replace(Instruction& old, Value* integer) {
    old.replaceAllUsesWith(builder_.CreateBitCast(integer, old.getType()));
    if (auto* made = llvm::dyn_cast<Instruction>(integer); made && !made->hasName()) made->takeName(&old);
    old.eraseFromParent();
  }

  void visit(Instruction& instruction) {
    builder_.SetInsertPoint(&instruction);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      if (is_moved_bfloat(store->getValueOperand()->getType()))
        store->setOperand(0, as_integer(store->getValueOperand()));
      return;
    }
    if (auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
      if (is_moved_bfloat(memory->getAllocatedType()))
        memory->setAllocatedType(integer_type(memory->getAllocatedType()));
      return;
    }
    if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) {
      if (is_moved_bfloat(extract->getVectorOperandType()))
        replace(*extract,
                builder_.CreateExtractElement(as_integer(extract->getVectorOperand()), extract->getIndexOperand()));
      return;
    }
    if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction)) return visit_cast(*cast);
    if (!is_moved_bfloat(instruction.getType())) return;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return visit_load(*load);
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return visit_phi(*phi);
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
      replace(*select, builder_.CreateSelect(select->getCondition(), as_integer(select->getTrueValue()),
                                             as_integer(select->getFalseValue())));
    } else if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
      replace(*insert, builder_.CreateInsertElement(as_integer(insert->getOperand(0)),
                                                    as_integer(insert->getOperand(1)), insert->getOperand(2)));
    } else if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) {
      if (!is_moved_bfloat(shuffle->getOperand(0)->getType())) return;
      replace(*shuffle, builder_.CreateShuffleVector(as_integer(shuffle->getOperand(0)),
                                                     as_integer(shuffle->getOperand(1)), shuffle->getShuffleMask()));
    } else if (llvm::isa<llvm::FreezeInst>(instruction)) {
      replace(instruction, builder_.CreateFreeze(as_integer(instruction.getOperand(0))));
    }
  }

  void visit_load(llvm::LoadInst& load) {
    llvm::LoadInst* loaded = builder_.CreateAlignedLoad(integer_type(load.getType()), load.getPointerOperand(),
                                                        load.getAlign(), load.isVolatile());
    loaded->copyMetadata(load);
    replace(load, loaded);
  }
  void visit_phi(llvm::PHINode& phi) {
    llvm::PHINode* made = builder_.CreatePHI(integer_type(phi.getType()), phi.getNumIncomingValues());
    made->takeName(&phi);
    builder_.SetInsertPoint(phi.getParent(), phi.getParent()->getFirstInsertionPt());
    phi.replaceAllUsesWith(builder_.CreateBitCast(made, phi.getType()));
    phis_.emplace_back(&phi, made);
  }
  /// bfloat -> X: from the integer. X -> bfloat stays, as what as_integer looks through when X is the integer.
  void visit_cast(llvm::BitCastInst& cast) {
    if (!is_moved_bfloat(cast.getSrcTy())) return;
    Value* integer = as_integer(cast.getOperand(0));
    if (integer->getType() == cast.getDestTy()) {
      if (integer == &cast) return;
      cast.replaceAllUsesWith(integer);
      cast.eraseFromParent();
    } else if (integer != cast.getOperand(0)) {
      cast.replaceAllUsesWith(builder_.CreateBitCast(integer, cast.getDestTy()));
      cast.eraseFromParent();
    }
  }

  llvm::Function& function_;
  llvm::IRBuilder<> builder_;
  llvm::SmallVector<std::pair<llvm::PHINode*, llvm::PHINode*>, 8> phis_;
};

}  // namespace

namespace {

// InstCombine narrows comparisons, minima and maxima of widened halves to half again, and code generation makes a call
// of fmaxf of a half that is compared and selected.
void widen_half_comparisons(llvm::Function& function) {
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (instruction.getNumOperands() == 0 || !instruction.getOperand(0)->getType()->getScalarType()->isHalfTy())
      continue;
    llvm::IRBuilder<> b(&instruction);
    Value* wide = nullptr;
    if (const auto* comparison = llvm::dyn_cast<llvm::FCmpInst>(&instruction)) {
      wide = b.CreateFCmp(comparison->getPredicate(), emit_to_float(b, comparison->getOperand(0)),
                          emit_to_float(b, comparison->getOperand(1)));
    } else if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
      const llvm::Intrinsic::ID id = call->getIntrinsicID();
      if (id != llvm::Intrinsic::maxnum && id != llvm::Intrinsic::minnum && id != llvm::Intrinsic::maximum &&
          id != llvm::Intrinsic::minimum)
        continue;
      wide = b.CreateBinaryIntrinsic(id, emit_to_float(b, call->getArgOperand(0)),
                                     emit_to_float(b, call->getArgOperand(1)));
      wide = emit_from_float(b, wide, call->getType());
    } else {
      continue;
    }
    instruction.replaceAllUsesWith(wide);
    instruction.eraseFromParent();
  }
}

}  // namespace

void move_bfloats_as_integers(llvm::Function& function) {
  widen_half_comparisons(function);
  if (!function.isDeclaration()) BfloatMoves(function).run();
}

}  // namespace smelt::aot::cpu
