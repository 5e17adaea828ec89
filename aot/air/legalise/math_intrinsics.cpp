// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generic LLVM intrinsics (and frem) in AIR's words: renamed where AIR has the operation, spelt out where it has not
// (docs/formats/air.md 3.2 to 3.5). Three rules choose the spelling:
//
//   * float operations whose call says `afn` (or --fast-math) take the air.fast_* form; half never has one;
//   * bfloat has no math operations: it goes through float;
//   * integer forms that Apple's own optimiser leaves (smin, smax, fshl and usub.sat of i32) stay from AIR 2.6 on.
//
// An intrinsic that is in none of the tables is an error that names it: unhandled ones abort Apple's compiler.
#include "legalise/math_expansions.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

using llvm::Intrinsic::ID;

/// llvm.* -> air.*, operand for operand.
struct Rename {
  ID from;
  std::string_view to;
  bool has_fast = true;
};

constexpr Rename kRenames[] = {
    {llvm::Intrinsic::sqrt, "sqrt"},
    {llvm::Intrinsic::sin, "sin"},
    {llvm::Intrinsic::cos, "cos"},
    {llvm::Intrinsic::tan, "tan"},
    {llvm::Intrinsic::asin, "asin"},
    {llvm::Intrinsic::acos, "acos"},
    {llvm::Intrinsic::atan, "atan"},
    {llvm::Intrinsic::sinh, "sinh"},
    {llvm::Intrinsic::cosh, "cosh"},
    {llvm::Intrinsic::tanh, "tanh"},
    {llvm::Intrinsic::exp, "exp"},
    {llvm::Intrinsic::exp2, "exp2"},
    {llvm::Intrinsic::exp10, "exp10"},
    {llvm::Intrinsic::log, "log"},
    {llvm::Intrinsic::log2, "log2"},
    {llvm::Intrinsic::log10, "log10"},
    {llvm::Intrinsic::pow, "pow"},
    {llvm::Intrinsic::fabs, "fabs"},
    {llvm::Intrinsic::floor, "floor"},
    {llvm::Intrinsic::ceil, "ceil"},
    {llvm::Intrinsic::trunc, "trunc"},
    {llvm::Intrinsic::round, "round"},
    {llvm::Intrinsic::rint, "rint"},
    {llvm::Intrinsic::nearbyint, "rint"},
    {llvm::Intrinsic::roundeven, "rint"},
    {llvm::Intrinsic::minnum, "fmin"},
    {llvm::Intrinsic::maxnum, "fmax"},
    {llvm::Intrinsic::fma, "fma", false},
    {llvm::Intrinsic::fmuladd, "fma", false},
};

const Rename* find_rename(ID id) {
  for (const Rename& row : kRenames)
    if (row.from == id) return &row;
  return nullptr;
}

/// Left as they are at this AIR version.
bool is_kept_intrinsic(const llvm::IntrinsicInst& call, Version air) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::memcpy:
    case llvm::Intrinsic::memset:
    case llvm::Intrinsic::trap:
    case llvm::Intrinsic::ubsantrap:
    case llvm::Intrinsic::debugtrap:
    case llvm::Intrinsic::dbg_declare:
    case llvm::Intrinsic::dbg_value:
    case llvm::Intrinsic::dbg_label:
      return true;
    case llvm::Intrinsic::smin:
    case llvm::Intrinsic::smax:
      return air >= Version{2, 6} && call.getType()->isIntegerTy();
    case llvm::Intrinsic::fshl:
    case llvm::Intrinsic::usub_sat:
      return air >= Version{2, 6} && call.getType()->isIntegerTy(32);
    default:
      return false;
  }
}

/// bfloat operands as float, and the result back.
Result<llvm::Value*> through_float(MathBuilder& math, const Rename& row, const llvm::IntrinsicInst& call) {
  llvm::SmallVector<llvm::Value*, 3> operands;
  llvm::Type* const single = call.getType()->getWithNewType(math.ir.getFloatTy());
  for (const llvm::Use& operand : call.args()) operands.push_back(math.ir.CreateFPExt(operand.get(), single));
  SMELT_TRY(llvm::Value* const wide, math.air(row.to, operands, row.has_fast));
  return math.ir.CreateFPTrunc(wide, call.getType());
}

Result<llvm::Value*> rename(MathBuilder& math, const Rename& row, const llvm::IntrinsicInst& call) {
  if (call.getType()->getScalarType()->isBFloatTy()) return through_float(math, row, call);
  const llvm::SmallVector<llvm::Value*, 3> operands(call.args());
  return math.air(row.to, operands, row.has_fast);
}

Result<llvm::Value*> replacement(MathBuilder& math, llvm::IntrinsicInst& call) {
  if (const Rename* row = find_rename(call.getIntrinsicID())) return rename(math, *row, call);
  return expand_intrinsic(math, call);
}

}  // namespace

Result<void> math_intrinsics(PassContext& context) {
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    llvm::IRBuilder<> builder(instruction);
    if (llvm::isa<llvm::FPMathOperator>(instruction)) builder.setFastMathFlags(instruction->getFastMathFlags());
    MathBuilder math{builder, context, *instruction};
    llvm::Value* made = nullptr;
    if (instruction->getOpcode() == llvm::Instruction::FRem) {
      SMELT_TRY(made, expand_frem(math));
    } else if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(instruction)) {
      if (is_kept_intrinsic(*call, context.target.air)) continue;
      SMELT_TRY(made, replacement(math, *call));
    } else {
      continue;
    }
    if (made) {
      if (!made->hasName()) made->takeName(instruction);
      instruction->replaceAllUsesWith(made);
    }
    instruction->eraseFromParent();
  }
  for (llvm::Function& function : llvm::make_early_inc_range(context.module))
    if (function.isIntrinsic() && function.use_empty()) function.eraseFromParent();
  return {};
}

}  // namespace smelt::aot::air
