// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/metal_operations.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace smelt::aot {
namespace {

using llvm::Instruction;
using llvm::Value;

bool is_signed(const llvm::BinaryOperator& division) {
  return division.getOpcode() == Instruction::SDiv || division.getOpcode() == Instruction::SRem;
}

void replace(Instruction& instruction, Value* made) {
  made->takeName(&instruction);
  instruction.replaceAllUsesWith(made);
  instruction.eraseFromParent();
}

Value* at_least_one(llvm::IRBuilder<>& b, Value* divisor) {
  // Not by a select of whether it is 0: LLVM takes a division by a vector of constants with a 0 in it for undefined as
  // a whole, also where the vector is one arm of a select.
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, divisor, llvm::ConstantInt::get(divisor->getType(), 1));
}

/// A divisor is harmless if every component is a constant that no dividend traps or overflows with.
bool is_harmless(const Value* divisor, bool with_sign) {
  const auto harmless = [&](const llvm::Constant* one) {
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(one);
    return number != nullptr && !number->isZero() && !(with_sign && number->isMinusOne());
  };
  const auto* constant = llvm::dyn_cast<llvm::Constant>(divisor);
  if (constant == nullptr) return false;
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(constant->getType());
  if (type == nullptr) return harmless(constant);
  for (unsigned i = 0; i < type->getNumElements(); ++i)
    if (!harmless(constant->getAggregateElement(i))) return false;
  return true;
}

void define_division(llvm::BinaryOperator& division) {
  Value* const divisor = division.getOperand(1);
  if (is_harmless(divisor, is_signed(division))) return;
  llvm::IRBuilder<> b(&division);
  // -1 under the lowest number overflows, which is known only where both are constants.
  if (is_signed(division) && llvm::isa<llvm::Constant>(division.getOperand(0)) && llvm::isa<llvm::Constant>(divisor))
    return guard_division(division);
  division.setOperand(1, at_least_one(b, divisor));
}

/// Clang folds operations of constants itself, and a division by 0 becomes poison. Metal allows any value, so it is 0.
void define_operands(Instruction& instruction) {
  if (!llvm::isa<llvm::BinaryOperator, llvm::CmpInst, llvm::CastInst, llvm::StoreInst, llvm::GetElementPtrInst,
                 llvm::BranchInst, llvm::SwitchInst>(instruction))
    return;
  for (llvm::Use& operand : instruction.operands())
    if (llvm::isa<llvm::PoisonValue>(operand) && operand->getType()->isIntOrIntVectorTy())
      operand.set(llvm::Constant::getNullValue(operand->getType()));
}

}  // namespace

void define_operations(llvm::Function& function) {
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    define_operands(instruction);
    if (auto* division = llvm::dyn_cast<llvm::BinaryOperator>(&instruction); division && division->isIntDivRem()) {
      define_division(*division);
      continue;
    }
    if (!llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(instruction)) continue;
    Value* const from = instruction.getOperand(0);
    llvm::IRBuilder<> b(&instruction);
    replace(instruction, b.CreateIntrinsic(llvm::isa<llvm::FPToSIInst>(instruction) ? llvm::Intrinsic::fptosi_sat
                                                                                    : llvm::Intrinsic::fptoui_sat,
                                           {instruction.getType(), from->getType()}, {from}));
  }
}

void plain_conversions(llvm::Function& function) {
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call == nullptr || llvm::isa<llvm::Constant>(call->getArgOperand(0))) continue;
    const llvm::Intrinsic::ID id = call->getIntrinsicID();
    if (id != llvm::Intrinsic::fptosi_sat && id != llvm::Intrinsic::fptoui_sat) continue;
    llvm::IRBuilder<> b(call);
    replace(*call, id == llvm::Intrinsic::fptosi_sat ? b.CreateFPToSI(call->getArgOperand(0), call->getType())
                                                     : b.CreateFPToUI(call->getArgOperand(0), call->getType()));
  }
}

void guard_division(llvm::BinaryOperator& division) {
  constexpr llvm::StringLiteral kGuarded = "smelt.guarded";
  if (division.hasMetadata(kGuarded)) return;
  Value *const dividend = division.getOperand(0), *const divisor = division.getOperand(1);
  if (is_harmless(divisor, is_signed(division))) return;
  llvm::Type* const type = division.getType();
  llvm::IRBuilder<> b(&division);
  Value* safe = at_least_one(b, divisor);
  if (is_signed(division)) {
    Value* const lowest = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
    Value* const overflows =
        b.CreateAnd(b.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)), b.CreateICmpEQ(dividend, lowest));
    safe = b.CreateSelect(overflows, llvm::ConstantInt::get(type, 1), safe);
  }
  division.setOperand(1, safe);
  division.dropPoisonGeneratingFlags();
  division.setMetadata(kGuarded, llvm::MDNode::get(division.getContext(), {}));
}

}  // namespace smelt::aot
