// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One instruction of a thread as instructions of a gang; memory, atomics and collectives are elsewhere. See emit.hpp.
#include "llvm/IR/Instructions.h"

#include "lanes/emit.hpp"
#include "work_item/lane_functions.hpp"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <algorithm>

namespace smelt::aot::cpu::lanes {
namespace {

bool means_nothing(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && (call->isAssumeLikeIntrinsic() || call->isLifetimeStartOrEnd());
}

void copy_flags(llvm::Value* copy, const llvm::Instruction& from) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(copy);
  if (instruction && instruction->getOpcode() == from.getOpcode()) instruction->copyIRFlags(&from);
}

bool is_arithmetic_reduction(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::vector_reduce_add:
    case llvm::Intrinsic::vector_reduce_mul:
    case llvm::Intrinsic::vector_reduce_and:
    case llvm::Intrinsic::vector_reduce_or:
    case llvm::Intrinsic::vector_reduce_xor:
    case llvm::Intrinsic::vector_reduce_fadd:
    case llvm::Intrinsic::vector_reduce_fmul:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_component_reduction(unsigned intrinsic) {
  switch (intrinsic) {
    case llvm::Intrinsic::vector_reduce_smax:
    case llvm::Intrinsic::vector_reduce_smin:
    case llvm::Intrinsic::vector_reduce_umax:
    case llvm::Intrinsic::vector_reduce_umin:
    case llvm::Intrinsic::vector_reduce_fmax:
    case llvm::Intrinsic::vector_reduce_fmin:
      return true;
    default:
      return is_arithmetic_reduction(intrinsic);
  }
}

void Emitter::emit(llvm::Instruction& instruction) {
  if (means_nothing(instruction)) return;
  builder_.SetCurrentDebugLocation(instruction.getDebugLoc());  // of a listing alone
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && !llvm::isa<llvm::IntrinsicInst>(call)) {
    const llvm::StringRef name = call->getCalledFunction()->getName();
    if (name == kAllLanes) {
      llvm::Value* condition = part(call->getArgOperand(0));
      // Lanes that are off agree with everything.
      if (mask()) condition = builder_.CreateSelect(mask(), condition, all_on());
      scalars_[call] = every(condition);
      return;
    }
    if (is_lane_function(*call->getCalledFunction())) return emit_lane_call(*call);
    if (is_texture_call(*call->getCalledFunction())) return emit_texture_call(*call);
    return emit_collective(*call, *parse_collective(std::string_view(name)));
  }
  if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return emit_atomic(*atomic);
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) return emit_compare_exchange(*exchange);
  if (auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) return emit_alloca(*memory);
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return emit_store(*store);
  const Shape form = shape(&instruction);
  if (form.is_matrix()) return emit_matrix(instruction);
  if (form.is_varying()) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return emit_load(*load);
    // Vector forms of operands come first: they may open blocks of their own.
    Parts result = vectorise(instruction);
    parts_[&instruction] = std::move(result);
    return;
  }
  emit_copy(instruction);
  if (form.has_offsets()) {
    add_wrap_guards(instruction);
    if (form.guarded) {
      Parts result = vectorise(instruction);
      parts_[&instruction] = std::move(result);
    }
  }
}

void Emitter::emit_copy(llvm::Instruction& instruction) {
  llvm::Instruction* copy = instruction.clone();
  for (llvm::Use& use : copy->operands()) {
    if (llvm::isa<llvm::Function>(use) || llvm::isa<llvm::MetadataAsValue>(use)) continue;
    use.set(scalar(use));
  }
  copy->dropUnknownNonDebugMetadata();
  // Lane 0's value is computed even if lane 0 is off: what the flags promise holds for lanes that are on.
  if (shape(&instruction).has_offsets()) copy->dropPoisonGeneratingFlags();
  // Of constants at once: a lane's number in its simdgroup begins with 0, and what shuffles compute of it must be
  // known.
  if (llvm::Constant* folded = llvm::ConstantFoldInstruction(copy, layout_)) {
    scalars_[&instruction] = folded;
    copy->deleteValue();
    return;
  }
  builder_.Insert(copy);
  if (!instruction.getType()->isVoidTy()) scalars_[&instruction] = copy;
}

// A linear value that is widened stays linear only while no lane wraps round. Lane 0's value tells.
void Emitter::add_wrap_guards(llvm::Instruction& instruction) {
  llvm::SmallVector<llvm::Value*, 2> guards;
  for (llvm::Value* operand : instruction.operands()) {
    if (const auto known = guards_.find(operand); known != guards_.end()) {
      for (llvm::Value* guard : known->second) {
        if (!llvm::is_contained(guards, guard)) guards.push_back(guard);
      }
    }
  }
  const Shape form = shape(&instruction);
  const bool is_signed = llvm::isa<llvm::SExtInst>(instruction);
  if (form.guarded && (is_signed || llvm::isa<llvm::ZExtInst>(instruction))) {
    llvm::Value* base = scalar(instruction.getOperand(0));
    const unsigned width = base->getType()->getIntegerBitWidth();
    uint64_t before = 0;
    uint64_t behind = 0;  // lane 0
    for (unsigned lane = 0; lane < options_.lanes; ++lane) {
      const int64_t offset = form.offset(lane);
      uint64_t& most = offset < 0 ? before : behind;
      most = std::max(most, offset < 0 ? 0 - static_cast<uint64_t>(offset) : static_cast<uint64_t>(offset));
    }
    const llvm::APInt top = is_signed ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
    const llvm::APInt bottom = is_signed ? llvm::APInt::getSignedMinValue(width) : llvm::APInt(width, 0);
    const auto below = is_signed ? llvm::ICmpInst::ICMP_SLE : llvm::ICmpInst::ICMP_ULE;
    const auto above = is_signed ? llvm::ICmpInst::ICMP_SGE : llvm::ICmpInst::ICMP_UGE;
    if (behind != 0)
      guards.push_back(builder_.CreateICmp(below, base, builder_.getInt(top - llvm::APInt(width, behind))));
    if (before != 0)
      guards.push_back(builder_.CreateICmp(above, base, builder_.getInt(bottom + llvm::APInt(width, before))));
  }
  if (!guards.empty()) guards_[&instruction] = guards;
}

// Copies, choices and element accesses of whole matrices; operations on them are collectives.
void Emitter::emit_matrix(llvm::Instruction& instruction) {
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    llvm::Value* on = matrix(select->getTrueValue());
    llvm::Value* off = matrix(select->getFalseValue());
    const bool same = shape(select->getCondition()).is_uniform();
    scalars_[select] = same ? builder_.CreateSelect(scalar(select->getCondition()), on, off)
                            : blend_matrix(part(select->getCondition()), on, off);
    return;
  }
  if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
    const uint64_t slot = llvm::cast<llvm::ConstantInt>(insert->getOperand(2))->getZExtValue();
    llvm::Value* old = matrix(insert->getOperand(0));
    llvm::Value* changed =
        emit_matrix_with_slot(builder_, old, static_cast<unsigned>(slot), part(insert->getOperand(1)));
    scalars_[insert] = blend_matrix(mask(), changed, old);
    return;
  }
  llvm::Instruction* copy = instruction.clone();  // freeze, and loads of spilled matrices
  for (llvm::Use& use : copy->operands()) use.set(is_matrix_type(use->getType()) ? matrix(use) : scalar(use));
  copy->dropUnknownNonDebugMetadata();
  scalars_[&instruction] = builder_.Insert(copy);
}

Parts Emitter::vectorise(llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Call:
      return vectorise_call(llvm::cast<llvm::CallInst>(instruction));
    case llvm::Instruction::GetElementPtr:
      return vectorise_address(llvm::cast<llvm::GetElementPtrInst>(instruction));
    case llvm::Instruction::BitCast:
      return vectorise_bitcast(instruction);
    case llvm::Instruction::ExtractElement:
    case llvm::Instruction::InsertElement:
    case llvm::Instruction::ShuffleVector:
    case llvm::Instruction::ExtractValue:
    case llvm::Instruction::InsertValue:
      return vectorise_elements(instruction);
    default:
      break;
  }
  const Parts a = parts(instruction.getOperand(0));
  const Parts b = instruction.getNumOperands() > 1 ? parts(instruction.getOperand(1)) : Parts();
  Parts result;
  for (size_t i = 0; i < a.size(); ++i) {
    llvm::Value* made = nullptr;
    if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
      llvm::Value* right = b[i];
      // Lanes that are off must not divide by whatever they hold.
      if (binary->isIntDivRem() && mask() && !llvm::isa<llvm::Constant>(right)) {
        right = builder_.CreateSelect(mask(), right, llvm::ConstantInt::get(right->getType(), 1), "divisor");
      }
      made = builder_.CreateBinOp(binary->getOpcode(), a[i], right);
    } else if (llvm::isa<llvm::UnaryOperator>(instruction)) {
      made = builder_.CreateFNeg(a[i]);
    } else if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
      made = builder_.CreateCast(cast->getOpcode(), a[i], wide(cast->getType()->getScalarType()));
    } else if (auto* compare = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
      made = builder_.CreateCmp(compare->getPredicate(), a[i], b[i]);
    } else if (llvm::isa<llvm::FreezeInst>(instruction)) {
      made = builder_.CreateFreeze(a[i]);
    } else {
      break;  // select
    }
    copy_flags(made, instruction);
    result.push_back(made);
  }
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    const Parts on = b;
    const Parts off = parts(select->getFalseValue());
    const bool one_condition = shape(select->getCondition()).is_uniform() && a.size() == 1;
    for (size_t i = 0; i < on.size(); ++i) {
      llvm::Value* condition = one_condition ? scalar(select->getCondition()) : a[a.size() == 1 ? 0 : i];
      result.push_back(builder_.CreateSelect(condition, on[i], off[i]));
      copy_flags(result.back(), instruction);
    }
  }
  return result;
}

Parts Emitter::vectorise_address(llvm::GetElementPtrInst& address) {
  llvm::Value* pointer = address.getPointerOperand();
  llvm::SmallVector<llvm::Value*, 4> indices;
  for (llvm::Value* index : address.indices()) {
    indices.push_back(shape(index).is_uniform() ? scalar(index) : part(index));
  }
  llvm::Value* base = shape(pointer).is_uniform() ? scalar(pointer) : part(pointer);
  return {builder_.CreateGEP(address.getSourceElementType(), base, indices)};
}

// The parts of a word in memory order, and a word of its parts.
Parts Emitter::taken_apart(llvm::Value* word, llvm::ArrayRef<LaneLayout::Field> fields) {
  const unsigned bits = fields.front().type->getScalarSizeInBits();
  llvm::Type* whole = wide(builder_.getIntNTy(word->getType()->getScalarSizeInBits()));
  word = builder_.CreateBitCast(word, whole);
  Parts result;
  for (unsigned i = 0; i < fields.size(); ++i) {
    llvm::Value* shifted = i == 0 ? word : builder_.CreateLShr(word, uint64_t{i} * bits);
    llvm::Value* part = builder_.CreateTrunc(shifted, wide(builder_.getIntNTy(bits)));
    result.push_back(builder_.CreateBitCast(part, wide(fields[i].type)));
  }
  return result;
}

llvm::Value* Emitter::put_together(const Parts& from, llvm::Type* word) {
  const unsigned bits = from.front()->getType()->getScalarSizeInBits();
  llvm::Type* whole = wide(builder_.getIntNTy(word->getScalarSizeInBits()));
  llvm::Value* result = nullptr;
  for (unsigned i = 0; i < from.size(); ++i) {
    llvm::Value* part = builder_.CreateBitCast(from[i], wide(builder_.getIntNTy(bits)));
    part = builder_.CreateZExt(part, whole);
    if (i > 0) part = builder_.CreateShl(part, uint64_t{i} * bits);
    result = i == 0 ? part : builder_.CreateOr(result, part);
  }
  return builder_.CreateBitCast(result, wide(word));
}

// Between vectors of different element sizes: through one long vector in memory order.
Parts Emitter::vectorise_bitcast(llvm::Instruction& instruction) {
  const Parts from = parts(instruction.getOperand(0));
  const LaneLayout to = layout_of(instruction.getType(), layout_);
  const auto count = static_cast<unsigned>(to.fields.size());
  Parts result;
  if (from.size() == count) {
    for (llvm::Value* one : from) result.push_back(builder_.CreateBitCast(one, wide(to.fields.front().type)));
    return result;
  }
  if (options_.calls && from.size() == 1) return taken_apart(from.front(), to.fields);
  if (options_.calls && count == 1) return {put_together(from, to.fields.front().type)};
  llvm::Value* joined = from.size() == 1 ? from.front() : interleave(from, static_cast<unsigned>(from.size()));
  joined = builder_.CreateBitCast(joined, llvm::FixedVectorType::get(to.fields.front().type, options_.lanes * count));
  return count == 1 ? Parts{joined} : deinterleave(joined, count, count);
}

Parts Emitter::vectorise_elements(llvm::Instruction& instruction) {
  if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) {
    llvm::Value* vector = extract->getVectorOperand();
    llvm::Value* index = extract->getIndexOperand();
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(index);
    if (is_matrix_type(vector->getType())) {
      const auto product = slots_.find(vector);
      if (product != slots_.end()) return {product->second[constant->getZExtValue()]};
      return {emit_matrix_slot(builder_, matrix(vector), static_cast<unsigned>(constant->getZExtValue()))};
    }
    const Parts all = parts(vector);
    if (constant) {
      if (constant->getValue().uge(all.size())) return {llvm::PoisonValue::get(all.front()->getType())};
      return {all[constant->getZExtValue()]};
    }
    llvm::Value* chosen = all.back();
    llvm::Value* which = part(index);
    for (size_t i = all.size() - 1; i-- > 0;) {
      llvm::Value* here = builder_.CreateICmpEQ(which, llvm::ConstantInt::get(which->getType(), i));
      chosen = builder_.CreateSelect(here, all[i], chosen);
    }
    return {chosen};
  }
  if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
    Parts all = parts(insert->getOperand(0));
    llvm::Value* element = part(insert->getOperand(1));
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2))) {
      if (constant->getValue().ult(all.size())) all[constant->getZExtValue()] = element;
      return all;
    }
    llvm::Value* which = part(insert->getOperand(2));
    for (size_t i = 0; i < all.size(); ++i) {
      llvm::Value* here = builder_.CreateICmpEQ(which, llvm::ConstantInt::get(which->getType(), i));
      all[i] = builder_.CreateSelect(here, element, all[i]);
    }
    return all;
  }
  if (auto* shuffled = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) {
    Parts both = parts(shuffled->getOperand(0));
    both.append(parts(shuffled->getOperand(1)));
    Parts result;
    for (int source : shuffled->getShuffleMask()) {
      result.push_back(source < 0 ? llvm::PoisonValue::get(both.front()->getType()) : both[source]);
    }
    return result;
  }
  // Members of structures: the parts of a type lie in order, so a member is a run of them.
  const bool extracts = llvm::isa<llvm::ExtractValueInst>(instruction);
  Parts whole = parts(instruction.getOperand(0));
  llvm::Type* type = instruction.getOperand(0)->getType();
  const llvm::ArrayRef<unsigned> indices = extracts ? llvm::cast<llvm::ExtractValueInst>(instruction).getIndices()
                                                    : llvm::cast<llvm::InsertValueInst>(instruction).getIndices();
  size_t start = 0;
  for (unsigned index : indices) {
    for (unsigned i = 0; i < index; ++i) {
      start += layout_of(llvm::ExtractValueInst::getIndexedType(type, i), layout_).fields.size();
    }
    type = llvm::ExtractValueInst::getIndexedType(type, index);
  }
  const size_t count = layout_of(type, layout_).fields.size();
  if (extracts) return Parts(whole.begin() + start, whole.begin() + start + count);
  const Parts member = parts(instruction.getOperand(1));
  for (size_t i = 0; i < count; ++i) whole[start + i] = member[i];
  return whole;
}

Parts Emitter::vectorise_call(llvm::CallInst& call) {
  auto& intrinsic = llvm::cast<llvm::IntrinsicInst>(call);
  const llvm::Intrinsic::ID id = intrinsic.getIntrinsicID();
  if (is_component_reduction(id)) return reduce_components(intrinsic);
  const bool overflows = llvm::isa<llvm::WithOverflowInst>(call);
  if (!llvm::isTriviallyVectorizable(id) && !overflows) return one_by_one(call);
  llvm::SmallVector<Parts, 3> arguments;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const bool stays = !overflows && llvm::isVectorIntrinsicWithScalarOpAtArg(id, i);
    arguments.push_back(stays ? Parts() : parts(call.getArgOperand(i)));
  }
  const LaneLayout made = layout_of(call.getType(), layout_);
  const size_t count = overflows ? arguments.front().size() : made.fields.size();
  Parts result;
  for (size_t k = 0; k < count; ++k) {
    llvm::SmallVector<llvm::Type*, 2> overloads;
    llvm::SmallVector<llvm::Value*, 3> operands;
    if (!overflows && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) {
      overloads.push_back(wide(made.fields[k].type));
    }
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      operands.push_back(arguments[i].empty() ? scalar(call.getArgOperand(i)) : arguments[i][k]);
      if (!overflows && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i))) {
        overloads.push_back(operands.back()->getType());
      }
    }
    if (overflows) overloads.push_back(operands.front()->getType());
    llvm::CallInst* copy = builder_.CreateIntrinsic(id, overloads, operands);
    if (llvm::isa<llvm::FPMathOperator>(copy) && llvm::isa<llvm::FPMathOperator>(call)) copy->copyFastMathFlags(&call);
    if (overflows) {
      result = {builder_.CreateExtractValue(copy, 0), builder_.CreateExtractValue(copy, 1)};
    } else {
      result.push_back(copy);
    }
  }
  return result;
}

// An operation that has no vector form at all: taken apart. Rare; such code comes from the input, not from lowering.
Parts Emitter::one_by_one(llvm::CallInst& call) {
  llvm::SmallVector<Parts, 3> arguments;
  for (llvm::Value* argument : call.args()) {
    arguments.push_back(llvm::isa<llvm::Constant>(argument) ? Parts() : parts(argument));
  }
  llvm::Value* result = llvm::PoisonValue::get(wide(call.getType()));
  for (unsigned lane = 0; lane < options_.lanes; ++lane) {
    llvm::Instruction* copy = call.clone();
    for (unsigned i = 0; i < arguments.size(); ++i) {
      if (arguments[i].empty()) continue;
      copy->setOperand(i, builder_.CreateExtractElement(arguments[i].front(), lane));
    }
    copy->dropUnknownNonDebugMetadata();
    result = builder_.CreateInsertElement(result, builder_.Insert(copy), lane);
  }
  return {result};
}

// llvm.vector.reduce.* of a thread's own vector.
Parts Emitter::reduce_components(llvm::IntrinsicInst& call) {
  const Parts all = parts(call.getArgOperand(call.arg_size() - 1));
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  llvm::IRBuilder<>::FastMathFlagGuard keep(builder_);
  if (llvm::isa<llvm::FPMathOperator>(call)) builder_.setFastMathFlags(call.getFastMathFlags());
  llvm::Value* result = call.arg_size() == 2 ? part(call.getArgOperand(0)) : nullptr;
  for (llvm::Value* one : all) {
    if (!result) {
      result = one;
    } else if (is_arithmetic_reduction(id)) {
      const unsigned opcode = llvm::getArithmeticReductionInstruction(id);
      result = builder_.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(opcode), result, one);
    } else {
      result = builder_.CreateBinaryIntrinsic(llvm::getMinMaxReductionIntrinsicOp(id), result, one);
    }
  }
  return {result};
}

}  // namespace smelt::aot::cpu::lanes
