// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over the lanes of one vector, lane by lane (unhandled, they abort Apple's compiler), and lane shuffles
// that LLVM spells as intrinsics.
#include "legalise/math_expansions.hpp"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

llvm::Value* lane(llvm::IRBuilder<>& ir, llvm::Value* vector, unsigned index) {
  return ir.CreateExtractElement(vector, ir.getInt64(index));
}

unsigned width(const llvm::Value* vector) {
  return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

using Combine = Result<llvm::Value*> (*)(MathBuilder&, llvm::Value*, llvm::Value*);

template <llvm::Instruction::BinaryOps kOperation>
Result<llvm::Value*> combine(MathBuilder& math, llvm::Value* x, llvm::Value* y) {
  return math.ir.CreateBinOp(kOperation, x, y);
}

template <llvm::CmpInst::Predicate kPredicate>
Result<llvm::Value*> keep(MathBuilder& math, llvm::Value* x, llvm::Value* y) {
  return math.ir.CreateSelect(math.ir.CreateICmp(kPredicate, x, y), x, y);
}

/// A float operation that is itself an intrinsic (minnum, maximum, ...): made as such and expanded on the spot.
template <llvm::Intrinsic::ID kIntrinsic>
Result<llvm::Value*> call_and_expand(MathBuilder& math, llvm::Value* x, llvm::Value* y) {
  if (kIntrinsic == llvm::Intrinsic::minnum || kIntrinsic == llvm::Intrinsic::maxnum)
    if (!x->getType()->isBFloatTy())
      return math.air(kIntrinsic == llvm::Intrinsic::minnum ? "fmin" : "fmax", {x, y}, true);
  auto* call = llvm::cast<llvm::IntrinsicInst>(math.ir.CreateBinaryIntrinsic(kIntrinsic, x, y));
  if (kIntrinsic == llvm::Intrinsic::minnum || kIntrinsic == llvm::Intrinsic::maxnum) {
    call->eraseFromParent();
    llvm::Type* const single = math.ir.getFloatTy();
    SMELT_TRY(llvm::Value* const wide,
              math.air(kIntrinsic == llvm::Intrinsic::minnum ? "fmin" : "fmax",
                       {math.ir.CreateFPExt(x, single), math.ir.CreateFPExt(y, single)}, true));
    return math.ir.CreateFPTrunc(wide, x->getType());
  }
  SMELT_TRY(llvm::Value* const made, expand_float_intrinsic(math, *call));
  call->eraseFromParent();
  return made;
}

Combine combine_for(llvm::Intrinsic::ID id) {
  using llvm::CmpInst;
  using llvm::Instruction;
  switch (id) {
    case llvm::Intrinsic::vector_reduce_add:
      return combine<Instruction::Add>;
    case llvm::Intrinsic::vector_reduce_mul:
      return combine<Instruction::Mul>;
    case llvm::Intrinsic::vector_reduce_and:
      return combine<Instruction::And>;
    case llvm::Intrinsic::vector_reduce_or:
      return combine<Instruction::Or>;
    case llvm::Intrinsic::vector_reduce_xor:
      return combine<Instruction::Xor>;
    case llvm::Intrinsic::vector_reduce_fadd:
      return combine<Instruction::FAdd>;
    case llvm::Intrinsic::vector_reduce_fmul:
      return combine<Instruction::FMul>;
    case llvm::Intrinsic::vector_reduce_smin:
      return keep<CmpInst::ICMP_SLT>;
    case llvm::Intrinsic::vector_reduce_smax:
      return keep<CmpInst::ICMP_SGT>;
    case llvm::Intrinsic::vector_reduce_umin:
      return keep<CmpInst::ICMP_ULT>;
    case llvm::Intrinsic::vector_reduce_umax:
      return keep<CmpInst::ICMP_UGT>;
    case llvm::Intrinsic::vector_reduce_fmin:
      return call_and_expand<llvm::Intrinsic::minnum>;
    case llvm::Intrinsic::vector_reduce_fmax:
      return call_and_expand<llvm::Intrinsic::maxnum>;
    case llvm::Intrinsic::vector_reduce_fminimum:
      return call_and_expand<llvm::Intrinsic::minimum>;
    case llvm::Intrinsic::vector_reduce_fmaximum:
      return call_and_expand<llvm::Intrinsic::maximum>;
    default:
      return nullptr;
  }
}

/// In order, from the start value where there is one: right for floats with and without `reassoc`.
Result<llvm::Value*> reduce(MathBuilder& math, llvm::IntrinsicInst& call, Combine step) {
  const bool has_start = call.arg_size() == 2;
  llvm::Value* const vector = call.getArgOperand(has_start ? 1 : 0);
  llvm::Value* result = has_start ? call.getArgOperand(0) : lane(math.ir, vector, 0);
  for (unsigned i = has_start ? 0 : 1; i < width(vector); ++i) {
    SMELT_TRY(result, step(math, result, lane(math.ir, vector, i)));
  }
  return result;
}

llvm::Value* reverse(llvm::IRBuilder<>& ir, llvm::Value* vector) {
  llvm::SmallVector<int, 16> mask;
  for (unsigned i = width(vector); i-- > 0;) mask.push_back(static_cast<int>(i));
  return ir.CreateShuffleVector(vector, mask);
}

llvm::Value* extract_part(llvm::IRBuilder<>& ir, llvm::IntrinsicInst& call) {
  const auto first = llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue();
  llvm::SmallVector<int, 16> mask;
  for (unsigned i = 0; i < width(&call); ++i) mask.push_back(static_cast<int>(first + i));
  return ir.CreateShuffleVector(call.getArgOperand(0), mask);
}

llvm::Value* insert_part(llvm::IRBuilder<>& ir, llvm::IntrinsicInst& call) {
  const auto first = llvm::cast<llvm::ConstantInt>(call.getArgOperand(2))->getZExtValue();
  llvm::Value* whole = call.getArgOperand(0);
  llvm::Value* const part = call.getArgOperand(1);
  for (unsigned i = 0; i < width(part); ++i)
    whole = ir.CreateInsertElement(whole, lane(ir, part, i), ir.getInt64(first + i));
  return whole;
}

}  // namespace

Result<llvm::Value*> expand_vector_intrinsic(MathBuilder& math, llvm::IntrinsicInst& call) {
  if (const Combine step = combine_for(call.getIntrinsicID())) return reduce(math, call, step);
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::vector_reverse:
      return reverse(math.ir, call.getArgOperand(0));
    case llvm::Intrinsic::vector_extract:
      return extract_part(math.ir, call);
    case llvm::Intrinsic::vector_insert:
      return insert_part(math.ir, call);
    default:
      return nullptr;
  }
}

}  // namespace smelt::aot::air
