// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/cpu_only.hpp"

#include "kernel_ir/cpu_only.hpp"
#include "lower/operation.hpp"
#include "runtime/runtime.hpp"

#include "llvm/IR/InstIterator.h"

namespace smelt::aot::cpu {
namespace {

using kernel_ir::DoubleKind;
using llvm::AtomicOrdering;
using llvm::Value;

tl::unexpected<Error> malformed(const llvm::CallInst& call) {
  return fail(Errc::corrupt, "{}: not an operation of kernels for the CPU alone",
              call.getCalledFunction()->getName().str());
}

Result<Value*> from_runtime(llvm::IRBuilder<>& b, llvm::StringRef name, llvm::ArrayRef<Value*> operands) {
  llvm::Function* const callee = declare_runtime(*b.GetInsertBlock()->getModule(), "d_" + name.str());
  if (!callee) return fail(Errc::compile_failed, "the CPU runtime has no function 'd_{}'", name.str());
  return b.CreateCall(callee, operands);
}

Value* to_integer(llvm::IRBuilder<>& b, Value* number, llvm::Type* type, bool is_signed) {
  const auto id = is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return b.CreateIntrinsic(id, {type, number->getType()}, {number});
}

Result<Value*> value_of(llvm::IRBuilder<>& b, const llvm::CallInst& call, const kernel_ir::DoubleOperation& operation) {
  llvm::SmallVector<Value*, 3> of;
  for (unsigned i = 0; i < call.arg_size(); ++i)
    of.push_back(operation.types[i + 1] == 'd' ? b.CreateBitCast(call.getArgOperand(i), b.getDoubleTy())
                                               : call.getArgOperand(i));
  switch (operation.kind) {
    case DoubleKind::instruction:
      return b.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(operation.code), of[0], of[1]);
    case DoubleKind::negation:
      return b.CreateFNeg(of[0]);
    case DoubleKind::comparison:
      return b.CreateFCmp(static_cast<llvm::CmpInst::Predicate>(operation.code), of[0], of[1]);
    case DoubleKind::intrinsic:
      return b.CreateIntrinsic(static_cast<llvm::Intrinsic::ID>(operation.code), {b.getDoubleTy()}, of);
    case DoubleKind::function:
      return from_runtime(b, operation.name, of);
    case DoubleKind::class_test: {
      const auto* const mask = llvm::dyn_cast<llvm::ConstantInt>(of[1]);
      if (!mask) return malformed(call);
      return b.createIsFPClass(of[0], static_cast<unsigned>(mask->getZExtValue() & llvm::fcAllFlags));
    }
    case DoubleKind::from_float:
      return b.CreateFPExt(of[0]->getType()->isFloatTy() ? of[0] : emit_to_float(b, of[0]), b.getDoubleTy());
    case DoubleKind::to_float: {
      if (call.getType()->isFloatTy()) return b.CreateFPTrunc(of[0], call.getType());
      SMELT_TRY(Value* const odd, from_runtime(b, "to_odd_float", of));  // one rounding that counts
      return emit_from_float(b, odd, call.getType());
    }
    case DoubleKind::from_signed:
      return b.CreateSIToFP(of[0], b.getDoubleTy());
    case DoubleKind::from_unsigned:
      return b.CreateUIToFP(of[0], b.getDoubleTy());
    case DoubleKind::to_signed:
      return to_integer(b, of[0], call.getType(), true);
    case DoubleKind::to_unsigned:
      return to_integer(b, of[0], call.getType(), false);
  }
  return malformed(call);
}

llvm::AtomicRMWInst::BinOp rmw_operation(llvm::StringRef name) {
  for (unsigned one = llvm::AtomicRMWInst::FIRST_BINOP; one <= llvm::AtomicRMWInst::LAST_BINOP; ++one)
    if (const auto operation = static_cast<llvm::AtomicRMWInst::BinOp>(one);
        llvm::AtomicRMWInst::getOperationName(operation) == name)
      return operation;
  return llvm::AtomicRMWInst::BAD_BINOP;
}

/// Sequentially consistent, which costs nothing more where it is an exchange anyway. Threadgroup memory is one OS
/// thread's, as in atomic.cpp.
Result<Value*> wide_atomic(llvm::IRBuilder<>& b, const llvm::CallInst& call, llvm::StringRef name) {
  const auto [operation, space] = name.rsplit('.');
  const auto scope = space == "3" ? llvm::SyncScope::SingleThread : llvm::SyncScope::System;
  constexpr auto kOrder = AtomicOrdering::SequentiallyConsistent;
  const llvm::Align wide(8);
  Value* const pointer = call.getArgOperand(0);
  if (operation == "load") {
    llvm::LoadInst* const load = b.CreateAlignedLoad(b.getInt64Ty(), pointer, wide);
    load->setAtomic(kOrder, scope);
    return load;
  }
  if (operation == "store") {
    b.CreateAlignedStore(call.getArgOperand(1), pointer, wide)->setAtomic(kOrder, scope);
    return nullptr;
  }
  if (operation == "cmpxchg")
    return b.CreateExtractValue(
        b.CreateAtomicCmpXchg(pointer, call.getArgOperand(1), call.getArgOperand(2), wide, kOrder, kOrder, scope), 0);
  const auto known = rmw_operation(operation);
  if (known == llvm::AtomicRMWInst::BAD_BINOP) return malformed(call);
  Value* operand = call.getArgOperand(1);
  if (llvm::AtomicRMWInst::isFPOperation(known)) operand = b.CreateBitCast(operand, b.getDoubleTy());
  Value* const old = b.CreateAtomicRMW(known, pointer, operand, wide, kOrder, scope);
  return call.use_empty() ? b.getInt64(0) : b.CreateBitCast(old, b.getInt64Ty());
}

}  // namespace

Result<void> lower_cpu_only(llvm::Function& function) {
  llvm::SmallVector<llvm::CallInst*, 16> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (const llvm::Function* callee = call->getCalledFunction();
          callee && callee->getName().starts_with(kernel_ir::kCpuOnlyPrefix))
        calls.push_back(call);
  for (llvm::CallInst* call : calls) {
    if (!kernel_ir::is_cpu_only_operation(*call->getCalledFunction())) return malformed(*call);
    llvm::IRBuilder<> b(call);
    llvm::StringRef name = call->getCalledFunction()->getName();
    Value* result = nullptr;
    if (name.consume_front(kernel_ir::kWideAtomicPrefix)) {
      SMELT_TRY(result, wide_atomic(b, *call, name));
    } else {
      name.consume_front(kernel_ir::kDoublePrefix);
      const kernel_ir::DoubleOperation& operation = *kernel_ir::find_double_operation(name);
      SMELT_TRY(result, value_of(b, *call, operation));
      if (operation.types[0] == 'd') result = b.CreateBitCast(result, b.getInt64Ty());
    }
    if (result) call->replaceAllUsesWith(result);
    call->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::cpu
