// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/arithmetic.hpp"

#include "lanes/components.hpp"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#include <algorithm>

namespace smelt::aot::cpu::lanes {
namespace {

void copy_flags(llvm::Value* copy, const llvm::Instruction& from) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(copy);
  if (instruction && instruction->getOpcode() == from.getOpcode()) instruction->copyIRFlags(&from);
}

// A linear value that is widened stays linear only while no lane wraps round. Lane 0's value tells.
void add_wrap_guards(GangContext& gang, llvm::Instruction& instruction) {
  llvm::IRBuilder<>& builder = gang.builder;
  llvm::SmallVector<llvm::Value*, 2> guards;
  for (llvm::Value* operand : instruction.operands()) {
    for (llvm::Value* guard : gang.guards(operand)) {
      if (!llvm::is_contained(guards, guard)) guards.push_back(guard);
    }
  }
  const Shape form = gang.shape(&instruction);
  const bool is_signed = llvm::isa<llvm::SExtInst>(instruction);
  if (form.guarded && (is_signed || llvm::isa<llvm::ZExtInst>(instruction))) {
    llvm::Value* base = gang.scalar(instruction.getOperand(0));
    const unsigned width = base->getType()->getIntegerBitWidth();
    uint64_t before = 0;
    uint64_t behind = 0;  // lane 0
    for (unsigned lane = 0; lane < gang.options.lanes; ++lane) {
      const int64_t offset = form.offset(lane);
      uint64_t& most = offset < 0 ? before : behind;
      most = std::max(most, offset < 0 ? 0 - static_cast<uint64_t>(offset) : static_cast<uint64_t>(offset));
    }
    const llvm::APInt top = is_signed ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
    const llvm::APInt bottom = is_signed ? llvm::APInt::getSignedMinValue(width) : llvm::APInt(width, 0);
    const auto below = is_signed ? llvm::ICmpInst::ICMP_SLE : llvm::ICmpInst::ICMP_ULE;
    const auto above = is_signed ? llvm::ICmpInst::ICMP_SGE : llvm::ICmpInst::ICMP_UGE;
    if (behind != 0)
      guards.push_back(builder.CreateICmp(below, base, builder.getInt(top - llvm::APInt(width, behind))));
    if (before != 0)
      guards.push_back(builder.CreateICmp(above, base, builder.getInt(bottom + llvm::APInt(width, before))));
  }
  if (!guards.empty()) gang.set_guards(&instruction, guards);
}

Parts vectorise_address(GangContext& gang, llvm::GetElementPtrInst& address) {
  llvm::Value* pointer = address.getPointerOperand();
  llvm::SmallVector<llvm::Value*, 4> indices;
  for (llvm::Value* index : address.indices()) {
    indices.push_back(gang.shape(index).is_uniform() ? gang.scalar(index) : gang.part(index));
  }
  llvm::Value* base = gang.shape(pointer).is_uniform() ? gang.scalar(pointer) : gang.part(pointer);
  return {gang.builder.CreateGEP(address.getSourceElementType(), base, indices)};
}

// An operation that has no vector form at all: taken apart. Rare; such code comes from the input, not from lowering.
Parts one_by_one(GangContext& gang, llvm::CallInst& call) {
  llvm::IRBuilder<>& builder = gang.builder;
  llvm::SmallVector<Parts, 3> arguments;
  for (llvm::Value* argument : call.args()) {
    arguments.push_back(llvm::isa<llvm::Constant>(argument) ? Parts() : gang.parts(argument));
  }
  llvm::Value* result = llvm::PoisonValue::get(gang.wide(call.getType()));
  for (unsigned lane = 0; lane < gang.options.lanes; ++lane) {
    llvm::Instruction* copy = call.clone();
    for (unsigned i = 0; i < arguments.size(); ++i) {
      if (arguments[i].empty()) continue;
      copy->setOperand(i, builder.CreateExtractElement(arguments[i].front(), lane));
    }
    copy->dropUnknownNonDebugMetadata();
    result = builder.CreateInsertElement(result, builder.Insert(copy), lane);
  }
  return {result};
}

Parts vectorise_call(GangContext& gang, llvm::CallInst& call) {
  llvm::IRBuilder<>& builder = gang.builder;
  auto& intrinsic = llvm::cast<llvm::IntrinsicInst>(call);
  const llvm::Intrinsic::ID id = intrinsic.getIntrinsicID();
  if (is_component_reduction(id)) return reduce_components(gang, intrinsic);
  const bool overflows = llvm::isa<llvm::WithOverflowInst>(call);
  if (!llvm::isTriviallyVectorizable(id) && !overflows) return one_by_one(gang, call);
  llvm::SmallVector<Parts, 3> arguments;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const bool stays = !overflows && llvm::isVectorIntrinsicWithScalarOpAtArg(id, i);
    arguments.push_back(stays ? Parts() : gang.parts(call.getArgOperand(i)));
  }
  const LaneLayout made = layout_of(call.getType(), gang.layout);
  const size_t count = overflows ? arguments.front().size() : made.fields.size();
  Parts result;
  for (size_t k = 0; k < count; ++k) {
    llvm::SmallVector<llvm::Type*, 2> overloads;
    llvm::SmallVector<llvm::Value*, 3> operands;
    if (!overflows && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) {
      overloads.push_back(gang.wide(made.fields[k].type));
    }
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      operands.push_back(arguments[i].empty() ? gang.scalar(call.getArgOperand(i)) : arguments[i][k]);
      if (!overflows && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i))) {
        overloads.push_back(operands.back()->getType());
      }
    }
    if (overflows) overloads.push_back(operands.front()->getType());
    llvm::CallInst* copy = builder.CreateIntrinsic(id, overloads, operands);
    if (llvm::isa<llvm::FPMathOperator>(copy) && llvm::isa<llvm::FPMathOperator>(call)) copy->copyFastMathFlags(&call);
    if (overflows) {
      result = {builder.CreateExtractValue(copy, 0), builder.CreateExtractValue(copy, 1)};
    } else {
      result.push_back(copy);
    }
  }
  return result;
}

/// Whether a division by the constant `divisor` traps in no lane, even if the lane is off and its dividend is garbage.
bool divides_anything(const llvm::Value* divisor) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(divisor);
  const auto* type = constant ? llvm::dyn_cast<llvm::FixedVectorType>(constant->getType()) : nullptr;
  if (type == nullptr) return false;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(lane));
    if (number == nullptr || number->isZero() || number->isMinusOne()) return false;
  }
  return true;
}

/// A divisor for all lanes: those that are off must not divide by whatever they hold.
llvm::Value* divisor_of_lanes(GangContext& gang, llvm::Value* divisor) {
  if (!gang.mask() || divides_anything(divisor)) return divisor;
  llvm::IRBuilder<>& builder = gang.builder;
  llvm::Constant* const one = llvm::ConstantInt::get(divisor->getType(), 1);
  // A select alone is not enough. Lanes' indices are constants, here or in a later pass, and 0 is among them. LLVM
  // takes a division by a vector with a 0 in it for undefined as a whole, also where the vector is one arm of a select.
  // And for AVX-512 it leaves the select out where flags say that the divisor is not 0, such as `or disjoint x, 1`, of
  // which it makes a sum. They hold in lanes that are on; a frozen value has none.
  llvm::Value* const above_zero =
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, builder.CreateFreeze(divisor), one);
  return builder.CreateSelect(gang.mask(), above_zero, one, "divisor");
}

Parts vectorise(GangContext& gang, llvm::Instruction& instruction) {
  llvm::IRBuilder<>& builder = gang.builder;
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Call:
      return vectorise_call(gang, llvm::cast<llvm::CallInst>(instruction));
    case llvm::Instruction::GetElementPtr:
      return vectorise_address(gang, llvm::cast<llvm::GetElementPtrInst>(instruction));
    case llvm::Instruction::BitCast:
      return vectorise_bitcast(gang, instruction);
    case llvm::Instruction::ExtractElement:
    case llvm::Instruction::InsertElement:
    case llvm::Instruction::ShuffleVector:
      return vectorise_elements(gang, instruction);
    case llvm::Instruction::ExtractValue:
    case llvm::Instruction::InsertValue:
      return vectorise_members(gang, instruction);
    default:
      break;
  }
  const Parts a = gang.parts(instruction.getOperand(0));
  const Parts b = instruction.getNumOperands() > 1 ? gang.parts(instruction.getOperand(1)) : Parts();
  Parts result;
  for (size_t i = 0; i < a.size(); ++i) {
    llvm::Value* made = nullptr;
    if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
      llvm::Value* right = b[i];
      if (binary->isIntDivRem()) right = divisor_of_lanes(gang, right);
      made = builder.CreateBinOp(binary->getOpcode(), a[i], right);
    } else if (llvm::isa<llvm::UnaryOperator>(instruction)) {
      made = builder.CreateFNeg(a[i]);
    } else if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
      made = builder.CreateCast(cast->getOpcode(), a[i], gang.wide(cast->getType()->getScalarType()));
    } else if (auto* compare = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
      made = builder.CreateCmp(compare->getPredicate(), a[i], b[i]);
    } else if (llvm::isa<llvm::FreezeInst>(instruction)) {
      made = builder.CreateFreeze(a[i]);
    } else {
      break;  // select
    }
    copy_flags(made, instruction);
    result.push_back(made);
  }
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    const Parts on = b;
    const Parts off = gang.parts(select->getFalseValue());
    const bool one_condition = gang.shape(select->getCondition()).is_uniform() && a.size() == 1;
    for (size_t i = 0; i < on.size(); ++i) {
      llvm::Value* condition = one_condition ? gang.scalar(select->getCondition()) : a[a.size() == 1 ? 0 : i];
      result.push_back(builder.CreateSelect(condition, on[i], off[i]));
      copy_flags(result.back(), instruction);
    }
  }
  return result;
}

}  // namespace

void Arithmetic::emit(llvm::Instruction& instruction) {
  const Shape form = gang_.shape(&instruction);
  if (!form.is_varying()) emit_copy(instruction);
  if (form.has_offsets()) add_wrap_guards(gang_, instruction);
  if (form.is_varying())
    gang_.set_parts(&instruction, vectorise(gang_, instruction));
  else if (form.guarded)
    gang_.set_parts_on_demand(&instruction, vectorise);
}

void Arithmetic::emit_copy(llvm::Instruction& instruction) {
  // `or disjoint` is a sum where the lane is on. Lane 0 may be off and have both bits, and all lanes' values are lane
  // 0's plus a constant: only a sum keeps that.
  const auto* disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
  const bool is_sum = disjoint && disjoint->isDisjoint() && gang_.shape(&instruction).has_offsets();
  llvm::Instruction* copy = is_sum
                                ? llvm::BinaryOperator::CreateAdd(instruction.getOperand(0), instruction.getOperand(1))
                                : instruction.clone();
  for (llvm::Use& use : copy->operands()) {
    if (llvm::isa<llvm::Function>(use) || llvm::isa<llvm::MetadataAsValue>(use)) continue;
    use.set(gang_.scalar(use));
  }
  copy->dropUnknownNonDebugMetadata();
  // Lane 0's value is computed even if lane 0 is off: what the flags promise holds for lanes that are on.
  if (gang_.shape(&instruction).has_offsets()) copy->dropPoisonGeneratingFlags();
  // Of constants at once: a lane's number in its simdgroup begins with 0, and what shuffles compute of it must be
  // known.
  if (llvm::Constant* folded = llvm::ConstantFoldInstruction(copy, gang_.layout)) {
    gang_.set_scalar(&instruction, folded);
    copy->deleteValue();
    return;
  }
  gang_.builder.Insert(copy);
  if (!instruction.getType()->isVoidTy()) gang_.set_scalar(&instruction, copy);
}

}  // namespace smelt::aot::cpu::lanes
