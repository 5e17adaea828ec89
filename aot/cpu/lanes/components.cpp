// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes/components.hpp"

#include "lanes/arithmetic.hpp"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace smelt::aot::cpu::lanes {
namespace {

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

// The parts of a word in memory order, and a word of its parts.
Parts taken_apart(GangContext& gang, llvm::Value* word, llvm::ArrayRef<LaneLayout::Field> fields) {
  llvm::IRBuilder<>& builder = gang.builder;
  const unsigned bits = fields.front().type->getScalarSizeInBits();
  llvm::Type* whole = gang.wide(builder.getIntNTy(word->getType()->getScalarSizeInBits()));
  word = builder.CreateBitCast(word, whole);
  Parts result;
  for (unsigned i = 0; i < fields.size(); ++i) {
    llvm::Value* shifted = i == 0 ? word : builder.CreateLShr(word, uint64_t{i} * bits);
    llvm::Value* part = builder.CreateTrunc(shifted, gang.wide(builder.getIntNTy(bits)));
    result.push_back(builder.CreateBitCast(part, gang.wide(fields[i].type)));
  }
  return result;
}

llvm::Value* put_together(GangContext& gang, const Parts& from, llvm::Type* word) {
  llvm::IRBuilder<>& builder = gang.builder;
  const unsigned bits = from.front()->getType()->getScalarSizeInBits();
  llvm::Type* whole = gang.wide(builder.getIntNTy(word->getScalarSizeInBits()));
  llvm::Value* result = nullptr;
  for (unsigned i = 0; i < from.size(); ++i) {
    llvm::Value* part = builder.CreateBitCast(from[i], gang.wide(builder.getIntNTy(bits)));
    part = builder.CreateZExt(part, whole);
    if (i > 0) part = builder.CreateShl(part, uint64_t{i} * bits);
    result = i == 0 ? part : builder.CreateOr(result, part);
  }
  return builder.CreateBitCast(result, gang.wide(word));
}

Parts vectorise_extract(GangContext& gang, llvm::ExtractElementInst& extract) {
  llvm::IRBuilder<>& builder = gang.builder;
  const Parts all = gang.parts(extract.getVectorOperand());
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(extract.getIndexOperand())) {
    if (constant->getValue().uge(all.size())) return {llvm::PoisonValue::get(all.front()->getType())};
    return {all[constant->getZExtValue()]};
  }
  llvm::Value* chosen = all.back();
  llvm::Value* which = gang.part(extract.getIndexOperand());
  for (size_t i = all.size() - 1; i-- > 0;) {
    llvm::Value* here = builder.CreateICmpEQ(which, llvm::ConstantInt::get(which->getType(), i));
    chosen = builder.CreateSelect(here, all[i], chosen);
  }
  return {chosen};
}

Parts vectorise_insert(GangContext& gang, llvm::InsertElementInst& insert) {
  llvm::IRBuilder<>& builder = gang.builder;
  Parts all = gang.parts(insert.getOperand(0));
  llvm::Value* element = gang.part(insert.getOperand(1));
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(insert.getOperand(2))) {
    if (constant->getValue().ult(all.size())) all[constant->getZExtValue()] = element;
    return all;
  }
  llvm::Value* which = gang.part(insert.getOperand(2));
  for (size_t i = 0; i < all.size(); ++i) {
    llvm::Value* here = builder.CreateICmpEQ(which, llvm::ConstantInt::get(which->getType(), i));
    all[i] = builder.CreateSelect(here, element, all[i]);
  }
  return all;
}

Parts vectorise_shuffle(GangContext& gang, llvm::ShuffleVectorInst& shuffle) {
  Parts both = gang.parts(shuffle.getOperand(0));
  both.append(gang.parts(shuffle.getOperand(1)));
  Parts result;
  for (int source : shuffle.getShuffleMask()) {
    result.push_back(source < 0 ? llvm::PoisonValue::get(both.front()->getType()) : both[source]);
  }
  return result;
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

// Between vectors of different element sizes: through one long vector in memory order.
Parts vectorise_bitcast(GangContext& gang, llvm::Instruction& instruction) {
  const Parts from = gang.parts(instruction.getOperand(0));
  const LaneLayout to = layout_of(instruction.getType(), gang.layout);
  const auto count = static_cast<unsigned>(to.fields.size());
  Parts result;
  if (from.size() == count) {
    for (llvm::Value* one : from) result.push_back(gang.builder.CreateBitCast(one, gang.wide(to.fields.front().type)));
    return result;
  }
  if (gang.options.calls && from.size() == 1) return taken_apart(gang, from.front(), to.fields);
  if (gang.options.calls && count == 1) return {put_together(gang, from, to.fields.front().type)};
  llvm::Value* joined = from.size() == 1 ? from.front() : gang.interleave(from, static_cast<unsigned>(from.size()));
  joined = gang.builder.CreateBitCast(joined,
                                      llvm::FixedVectorType::get(to.fields.front().type, gang.options.lanes * count));
  return count == 1 ? Parts{joined} : gang.deinterleave(joined, count, count);
}

Parts vectorise_elements(GangContext& gang, llvm::Instruction& instruction) {
  if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) return vectorise_extract(gang, *extract);
  if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) return vectorise_insert(gang, *insert);
  return vectorise_shuffle(gang, llvm::cast<llvm::ShuffleVectorInst>(instruction));
}

// The parts of a type lie in order, so a member is a run of them.
Parts vectorise_members(GangContext& gang, llvm::Instruction& instruction) {
  const bool extracts = llvm::isa<llvm::ExtractValueInst>(instruction);
  Parts whole = gang.parts(instruction.getOperand(0));
  llvm::Type* type = instruction.getOperand(0)->getType();
  const llvm::ArrayRef<unsigned> indices = extracts ? llvm::cast<llvm::ExtractValueInst>(instruction).getIndices()
                                                    : llvm::cast<llvm::InsertValueInst>(instruction).getIndices();
  size_t start = 0;
  for (unsigned index : indices) {
    for (unsigned i = 0; i < index; ++i) {
      start += layout_of(llvm::ExtractValueInst::getIndexedType(type, i), gang.layout).fields.size();
    }
    type = llvm::ExtractValueInst::getIndexedType(type, index);
  }
  const size_t count = layout_of(type, gang.layout).fields.size();
  if (extracts) return Parts(whole.begin() + start, whole.begin() + start + count);
  const Parts member = gang.parts(instruction.getOperand(1));
  for (size_t i = 0; i < count; ++i) whole[start + i] = member[i];
  return whole;
}

Parts reduce_components(GangContext& gang, llvm::IntrinsicInst& call) {
  llvm::IRBuilder<>& builder = gang.builder;
  const Parts all = gang.parts(call.getArgOperand(call.arg_size() - 1));
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  llvm::IRBuilder<>::FastMathFlagGuard keep(builder);
  if (llvm::isa<llvm::FPMathOperator>(call)) builder.setFastMathFlags(call.getFastMathFlags());
  llvm::Value* result = call.arg_size() == 2 ? gang.part(call.getArgOperand(0)) : nullptr;
  for (llvm::Value* one : all) {
    if (!result) {
      result = one;
    } else if (is_arithmetic_reduction(id)) {
      const unsigned opcode = llvm::getArithmeticReductionInstruction(id);
      result = builder.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(opcode), result, one);
    } else {
      result = builder.CreateBinaryIntrinsic(llvm::getMinMaxReductionIntrinsicOp(id), result, one);
    }
  }
  return {result};
}

}  // namespace smelt::aot::cpu::lanes
