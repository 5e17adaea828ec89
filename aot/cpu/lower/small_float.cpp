// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// half and bfloat arithmetic -> float arithmetic, rounded back (docs/design/cpu-lanes.md section 7).
//
// x86-64-v3 has conversions for half and nothing for bfloat. Left to LLVM, bfloat rounding is a library call and half
// code is large. Rounding the float result is exact for + - * / and sqrt (24 bits >= 2 * 11 + 2); fma needs more care
// and is lowered in math.cpp. Per operation every result is rounded; per expression a result that is used by another
// operation is passed on in float, and only what leaves the expression (is stored, merged by a phi, returned, bit-cast)
// is rounded. An explicit conversion always rounds: fast math does not change conversions.
#include "lower/lower.hpp"
#include "lower/operation.hpp"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

class SmallFloats {
 public:
  SmallFloats(llvm::Function& function, SmallFloatRounding rounding)
      : function_(function), rounding_(rounding), builder_(function.getContext()) {}

  void run() {
    // Reverse post-order: operands before users, so that an expression is known in float when it is used.
    llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
    for (llvm::BasicBlock* block : order)
      for (Instruction& instruction : llvm::make_early_inc_range(*block)) visit(instruction);
  }

 private:
  Value* widen(Value* value) {
    const auto known = wide_.find(value);
    return known == wide_.end() ? emit_to_float(builder_, value) : known->second;
  }
  void replace(Instruction& old, Value* value) {
    if (llvm::isa<Instruction>(value) && !value->hasName()) value->takeName(&old);
    old.replaceAllUsesWith(value);
    old.eraseFromParent();
  }
  /// `wide` is the result of `old` before rounding.
  void replace_rounded(Instruction& old, Value* wide) {
    Value* rounded = emit_from_float(builder_, wide, old.getType());
    if (rounding_ == SmallFloatRounding::per_expression) wide_[rounded] = wide;
    replace(old, rounded);
  }

  void visit(Instruction& instruction) {
    builder_.SetInsertPoint(&instruction);
    builder_.clearFastMathFlags();
    if (llvm::isa<llvm::FPMathOperator>(instruction)) builder_.setFastMathFlags(instruction.getFastMathFlags());
    const bool small_result = is_small_float(instruction.getType());
    const bool small_operand = instruction.getNumOperands() > 0 && is_small_float(instruction.getOperand(0)->getType());
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return visit_call(instruction, *call);
    switch (instruction.getOpcode()) {
      case Instruction::FNeg:
        if (small_result) replace_negated(instruction);
        return;
      case Instruction::FAdd:
      case Instruction::FSub:
      case Instruction::FMul:
      case Instruction::FDiv:
        if (small_result)
          replace_rounded(instruction,
                          builder_.CreateBinOp(static_cast<Instruction::BinaryOps>(instruction.getOpcode()),
                                               widen(instruction.getOperand(0)), widen(instruction.getOperand(1))));
        return;
      case Instruction::FCmp:
        if (small_operand)
          replace(instruction, builder_.CreateFCmp(llvm::cast<llvm::FCmpInst>(instruction).getPredicate(),
                                                   widen(instruction.getOperand(0)), widen(instruction.getOperand(1))));
        return;
      case Instruction::Select:
        if (small_result && rounding_ == SmallFloatRounding::per_expression) visit_select(instruction);
        return;
      case Instruction::FPExt:
        return visit_extension(instruction);
      case Instruction::FPTrunc:
        return visit_truncation(instruction);
      case Instruction::SIToFP:
      case Instruction::UIToFP:
        if (small_result) visit_from_integer(instruction, instruction.getOpcode() == Instruction::SIToFP);
        return;
      case Instruction::FPToSI:
      case Instruction::FPToUI:
        if (small_operand)
          replace(instruction, builder_.CreateCast(static_cast<Instruction::CastOps>(instruction.getOpcode()),
                                                   widen(instruction.getOperand(0)), instruction.getType()));
        return;
      default:
        return;
    }
  }

  void replace_bits(Instruction& instruction, llvm::function_ref<Value*(Value*, llvm::Type*)> change) {
    llvm::Type* type = instruction.getType();
    llvm::Type* integer = with_element(type, builder_.getInt16Ty());
    Value* bits = builder_.CreateBitCast(instruction.getOperand(0), integer);
    replace(instruction, builder_.CreateBitCast(change(bits, integer), type));
  }
  void replace_negated(Instruction& instruction) {
    if (wide_.contains(instruction.getOperand(0)))
      return replace_rounded(instruction, builder_.CreateFNeg(widen(instruction.getOperand(0))));
    replace_bits(instruction, [&](Value* bits, llvm::Type* integer) {
      return builder_.CreateXor(bits, llvm::ConstantInt::get(integer, 0x8000));
    });
  }
  void visit_select(Instruction& instruction) {
    Value *left = instruction.getOperand(1), *right = instruction.getOperand(2);
    if (!wide_.contains(left) && !wide_.contains(right)) return;
    replace_rounded(instruction, builder_.CreateSelect(instruction.getOperand(0), widen(left), widen(right)));
  }
  void visit_extension(Instruction& instruction) {
    Value* source = instruction.getOperand(0);
    if (!is_small_float(source->getType())) return;
    const bool bfloat = source->getType()->getScalarType()->isBFloatTy();
    if (!bfloat && !wide_.contains(source)) return;  // one instruction as it is
    replace(instruction, builder_.CreateFPExt(widen(source), instruction.getType()));
  }
  void visit_truncation(Instruction& instruction) {
    if (!instruction.getType()->getScalarType()->isBFloatTy()) return;
    Value* source = instruction.getOperand(0);
    if (!source->getType()->getScalarType()->isFloatTy()) return;
    replace(instruction, emit_from_float(builder_, source, instruction.getType()));
  }
  void visit_from_integer(Instruction& instruction, bool is_signed) {
    Value* source = instruction.getOperand(0);
    llvm::Type* type = instruction.getType();
    if (type->getScalarType()->isBFloatTy())
      return replace(instruction,
                     emit_from_float(builder_, emit_integer_to_odd_float(builder_, source, is_signed), type));
    llvm::Type* single = with_element(type, builder_.getFloatTy());
    Value* wide = is_signed ? builder_.CreateSIToFP(source, single) : builder_.CreateUIToFP(source, single);
    replace(instruction, emit_from_float(builder_, wide, type));
  }

  void visit_call(Instruction& instruction, const llvm::CallInst& call) {
    const llvm::Function* callee = call.getCalledFunction();
    if (!callee || !callee->isIntrinsic()) return;
    const bool small_result = is_small_float(call.getType());
    switch (call.getIntrinsicID()) {
      case llvm::Intrinsic::fabs:
        if (!small_result) return;
        if (wide_.contains(call.getArgOperand(0))) return visit_float_intrinsic(instruction, call);
        return replace_bits(instruction, [&](Value* bits, llvm::Type* integer) {
          return builder_.CreateAnd(bits, llvm::ConstantInt::get(integer, 0x7fff));
        });
      case llvm::Intrinsic::canonicalize:
      case llvm::Intrinsic::ceil:
      case llvm::Intrinsic::copysign:
      case llvm::Intrinsic::floor:
      case llvm::Intrinsic::fmuladd:
      case llvm::Intrinsic::maximum:
      case llvm::Intrinsic::maxnum:
      case llvm::Intrinsic::minimum:
      case llvm::Intrinsic::minnum:
      case llvm::Intrinsic::nearbyint:
      case llvm::Intrinsic::rint:
      case llvm::Intrinsic::round:
      case llvm::Intrinsic::roundeven:
      case llvm::Intrinsic::sqrt:
      case llvm::Intrinsic::trunc:
        if (small_result) visit_float_intrinsic(instruction, call);
        return;
      case llvm::Intrinsic::fptosi_sat:
      case llvm::Intrinsic::fptoui_sat:
        if (!is_small_float(call.getArgOperand(0)->getType())) return;
        return replace(instruction,
                       builder_.CreateIntrinsic(call.getIntrinsicID(),
                                                {call.getType(), with_element(call.getType(), builder_.getFloatTy())},
                                                {widen(call.getArgOperand(0))}));
      case llvm::Intrinsic::is_fpclass: {
        // A denormal half is a normal float: only the other classes survive widening. bfloat keeps them all.
        Value* source = call.getArgOperand(0);
        if (!source->getType()->getScalarType()->isBFloatTy()) return;
        Value* wide = emit_to_float(builder_, source);
        return replace(instruction, builder_.CreateIntrinsic(llvm::Intrinsic::is_fpclass, {wide->getType()},
                                                             {wide, call.getArgOperand(1)}));
      }
      default:
        return;
    }
  }
  void visit_float_intrinsic(Instruction& instruction, const llvm::CallInst& call) {
    llvm::SmallVector<Value*, 3> operands;
    for (Value* operand : call.args()) operands.push_back(widen(operand));
    replace_rounded(instruction, builder_.CreateIntrinsic(call.getIntrinsicID(), {operands[0]->getType()}, operands));
  }

  llvm::Function& function_;
  SmallFloatRounding rounding_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<Value*, Value*> wide_;  ///< rounded result -> the same before rounding (per expression only)
};

}  // namespace

void lower_small_floats(llvm::Function& function, SmallFloatRounding rounding) {
  if (!function.isDeclaration()) SmallFloats(function, rounding).run();
}

}  // namespace smelt::aot::cpu
