// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bitcode/codes.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/IR/Operator.h"

namespace smelt::aot::bitcode {

using llvm::AtomicOrdering;
using llvm::AtomicRMWInst;
using llvm::GlobalValue;
using llvm::Instruction;
namespace bitc = llvm::bitc;

uint32_t call_word(const llvm::CallInst& call, bool has_flags) {
  const auto tail = call.getTailCallKind();
  const bool must = tail == llvm::CallInst::TCK_MustTail;
  uint32_t word = uint32_t{1} << bitc::CALL_EXPLICIT_TYPE;
  word |= static_cast<uint32_t>(call.getCallingConv() & 1023) << bitc::CALL_CCONV;
  if (must || tail == llvm::CallInst::TCK_Tail) word |= 1u << bitc::CALL_TAIL;
  if (must) word |= 1u << bitc::CALL_MUSTTAIL;
  if (tail == llvm::CallInst::TCK_NoTail) word |= 1u << bitc::CALL_NOTAIL;
  if (has_flags) word |= 1u << bitc::CALL_FMF;
  return word;
}

std::optional<uint32_t> cast_code(unsigned opcode) {
  switch (opcode) {
    case Instruction::Trunc:
      return bitc::CAST_TRUNC;
    case Instruction::ZExt:
      return bitc::CAST_ZEXT;
    case Instruction::SExt:
      return bitc::CAST_SEXT;
    case Instruction::FPToUI:
      return bitc::CAST_FPTOUI;
    case Instruction::FPToSI:
      return bitc::CAST_FPTOSI;
    case Instruction::UIToFP:
      return bitc::CAST_UITOFP;
    case Instruction::SIToFP:
      return bitc::CAST_SITOFP;
    case Instruction::FPTrunc:
      return bitc::CAST_FPTRUNC;
    case Instruction::FPExt:
      return bitc::CAST_FPEXT;
    case Instruction::PtrToInt:
      return bitc::CAST_PTRTOINT;
    case Instruction::IntToPtr:
      return bitc::CAST_INTTOPTR;
    case Instruction::BitCast:
      return bitc::CAST_BITCAST;
    case Instruction::AddrSpaceCast:
      return bitc::CAST_ADDRSPACECAST;
    default:
      return std::nullopt;
  }
}

std::optional<uint32_t> binary_code(unsigned opcode) {
  switch (opcode) {
    case Instruction::Add:
    case Instruction::FAdd:
      return bitc::BINOP_ADD;
    case Instruction::Sub:
    case Instruction::FSub:
      return bitc::BINOP_SUB;
    case Instruction::Mul:
    case Instruction::FMul:
      return bitc::BINOP_MUL;
    case Instruction::UDiv:
      return bitc::BINOP_UDIV;
    case Instruction::SDiv:
    case Instruction::FDiv:
      return bitc::BINOP_SDIV;
    case Instruction::URem:
      return bitc::BINOP_UREM;
    case Instruction::SRem:
    case Instruction::FRem:
      return bitc::BINOP_SREM;
    case Instruction::Shl:
      return bitc::BINOP_SHL;
    case Instruction::LShr:
      return bitc::BINOP_LSHR;
    case Instruction::AShr:
      return bitc::BINOP_ASHR;
    case Instruction::And:
      return bitc::BINOP_AND;
    case Instruction::Or:
      return bitc::BINOP_OR;
    case Instruction::Xor:
      return bitc::BINOP_XOR;
    default:
      return std::nullopt;
  }
}

std::optional<uint32_t> atomic_operation_code(AtomicRMWInst::BinOp operation) {
  switch (operation) {
    case AtomicRMWInst::Xchg:
      return bitc::RMW_XCHG;
    case AtomicRMWInst::Add:
      return bitc::RMW_ADD;
    case AtomicRMWInst::Sub:
      return bitc::RMW_SUB;
    case AtomicRMWInst::And:
      return bitc::RMW_AND;
    case AtomicRMWInst::Nand:
      return bitc::RMW_NAND;
    case AtomicRMWInst::Or:
      return bitc::RMW_OR;
    case AtomicRMWInst::Xor:
      return bitc::RMW_XOR;
    case AtomicRMWInst::Max:
      return bitc::RMW_MAX;
    case AtomicRMWInst::Min:
      return bitc::RMW_MIN;
    case AtomicRMWInst::UMax:
      return bitc::RMW_UMAX;
    case AtomicRMWInst::UMin:
      return bitc::RMW_UMIN;
    case AtomicRMWInst::FAdd:
      return bitc::RMW_FADD;
    case AtomicRMWInst::FSub:
      return bitc::RMW_FSUB;
    default:
      return std::nullopt;  // fmin, fmax, uinc_wrap, udec_wrap: LLVM 15 and later
  }
}

uint32_t ordering_code(AtomicOrdering ordering) {
  switch (ordering) {
    case AtomicOrdering::NotAtomic:
      return bitc::ORDERING_NOTATOMIC;
    case AtomicOrdering::Unordered:
      return bitc::ORDERING_UNORDERED;
    case AtomicOrdering::Monotonic:
      return bitc::ORDERING_MONOTONIC;
    case AtomicOrdering::Acquire:
      return bitc::ORDERING_ACQUIRE;
    case AtomicOrdering::Release:
      return bitc::ORDERING_RELEASE;
    case AtomicOrdering::AcquireRelease:
      return bitc::ORDERING_ACQREL;
    case AtomicOrdering::SequentiallyConsistent:
      return bitc::ORDERING_SEQCST;
  }
  return bitc::ORDERING_SEQCST;
}

uint32_t linkage_code(const GlobalValue& value) {
  switch (value.getLinkage()) {
    case GlobalValue::ExternalLinkage:
      return 0;
    case GlobalValue::AppendingLinkage:
      return 2;
    case GlobalValue::InternalLinkage:
      return 3;
    case GlobalValue::ExternalWeakLinkage:
      return 7;
    case GlobalValue::CommonLinkage:
      return 8;
    case GlobalValue::PrivateLinkage:
      return 9;
    case GlobalValue::AvailableExternallyLinkage:
      return 12;
    case GlobalValue::WeakAnyLinkage:
      return 16;
    case GlobalValue::WeakODRLinkage:
      return 17;
    case GlobalValue::LinkOnceAnyLinkage:
      return 18;
    case GlobalValue::LinkOnceODRLinkage:
      return 19;
  }
  return 0;
}

uint32_t unnamed_address_code(const GlobalValue& value) {
  switch (value.getUnnamedAddr()) {
    case GlobalValue::UnnamedAddr::None:
      return 0;
    case GlobalValue::UnnamedAddr::Global:
      return 1;
    case GlobalValue::UnnamedAddr::Local:
      return 2;
  }
  return 0;
}

uint32_t flags_of(const llvm::Value& value) {
  uint32_t flags = 0;
  if (const auto* wrapping = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&value)) {
    if (wrapping->hasNoUnsignedWrap()) flags |= 1u << bitc::OBO_NO_UNSIGNED_WRAP;
    if (wrapping->hasNoSignedWrap()) flags |= 1u << bitc::OBO_NO_SIGNED_WRAP;
  } else if (const auto* dividing = llvm::dyn_cast<llvm::PossiblyExactOperator>(&value)) {
    if (dividing->isExact()) flags |= 1u << bitc::PEO_EXACT;
  } else if (const auto* floating = llvm::dyn_cast<llvm::FPMathOperator>(&value)) {
    if (floating->hasAllowReassoc()) flags |= bitc::AllowReassoc;
    if (floating->hasNoNaNs()) flags |= bitc::NoNaNs;
    if (floating->hasNoInfs()) flags |= bitc::NoInfs;
    if (floating->hasNoSignedZeros()) flags |= bitc::NoSignedZeros;
    if (floating->hasAllowReciprocal()) flags |= bitc::AllowReciprocal;
    if (floating->hasAllowContract()) flags |= bitc::AllowContract;
    if (floating->hasApproxFunc()) flags |= bitc::ApproxFunc;
  }
  return flags;
}

}  // namespace smelt::aot::bitcode
