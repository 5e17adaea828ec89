// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "allow_list/lists.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/LLVMContext.h"

namespace smelt::aot::allow_list {
namespace {

namespace id = llvm::Intrinsic;
using llvm::Attribute;
using llvm::Instruction;

// Arithmetic and memory that mean the same on every processor, and hints. Nothing that names a register, a stack, a
// thread, an exception, a processor, or memory by mask.
constexpr id::ID kIntrinsics[] = {
    id::abs,
    id::assume,
    id::bitreverse,
    id::bswap,
    id::canonicalize,
    id::ceil,
    id::copysign,
    id::cos,
    id::ctlz,
    id::ctpop,
    id::cttz,
    id::dbg_assign,
    id::dbg_declare,
    id::dbg_label,
    id::dbg_value,
    id::exp,
    id::exp10,
    id::exp2,
    id::expect,
    id::experimental_noalias_scope_decl,
    id::fabs,
    id::floor,
    id::fma,
    id::fmuladd,
    id::fptosi_sat,
    id::fptoui_sat,
    id::frexp,
    id::fshl,
    id::fshr,
    id::invariant_end,
    id::invariant_start,
    id::is_fpclass,
    id::ldexp,
    id::lifetime_end,
    id::lifetime_start,
    id::log,
    id::log10,
    id::log2,
    id::maximum,
    id::maxnum,
    id::memcpy,
    id::memmove,
    id::memset,
    id::minimum,
    id::minnum,
    id::nearbyint,
    id::pow,
    id::powi,
    id::rint,
    id::round,
    id::roundeven,
    id::sadd_sat,
    id::sadd_with_overflow,
    id::scmp,
    id::sin,
    id::smax,
    id::smin,
    id::smul_with_overflow,
    id::sqrt,
    id::sshl_sat,
    id::ssub_sat,
    id::ssub_with_overflow,
    id::trunc,
    id::uadd_sat,
    id::uadd_with_overflow,
    id::ucmp,
    id::umax,
    id::umin,
    id::umul_with_overflow,
    id::ushl_sat,
    id::usub_sat,
    id::usub_with_overflow,
    id::vector_reduce_add,
    id::vector_reduce_and,
    id::vector_reduce_fadd,
    id::vector_reduce_fmax,
    id::vector_reduce_fmin,
    id::vector_reduce_fmul,
    id::vector_reduce_mul,
    id::vector_reduce_or,
    id::vector_reduce_smax,
    id::vector_reduce_smin,
    id::vector_reduce_umax,
    id::vector_reduce_umin,
    id::vector_reduce_xor,
};

// No indirect branch, no exceptions, no variable arguments; atomics are air.* operations.
constexpr unsigned kOpcodes[] = {
    Instruction::Add,
    Instruction::AddrSpaceCast,
    Instruction::Alloca,
    Instruction::And,
    Instruction::AShr,
    Instruction::BitCast,
    Instruction::Br,
    Instruction::Call,
    Instruction::ExtractElement,
    Instruction::ExtractValue,
    Instruction::FAdd,
    Instruction::FCmp,
    Instruction::FDiv,
    Instruction::FMul,
    Instruction::FNeg,
    Instruction::FPExt,
    Instruction::FPToSI,
    Instruction::FPToUI,
    Instruction::FPTrunc,
    Instruction::Freeze,
    Instruction::FRem,
    Instruction::FSub,
    Instruction::GetElementPtr,
    Instruction::ICmp,
    Instruction::InsertElement,
    Instruction::InsertValue,
    Instruction::IntToPtr,
    Instruction::Load,
    Instruction::LShr,
    Instruction::Mul,
    Instruction::Or,
    Instruction::PHI,
    Instruction::PtrToInt,
    Instruction::Ret,
    Instruction::SDiv,
    Instruction::Select,
    Instruction::SExt,
    Instruction::Shl,
    Instruction::ShuffleVector,
    Instruction::SIToFP,
    Instruction::SRem,
    Instruction::Store,
    Instruction::Sub,
    Instruction::Switch,
    Instruction::Trunc,
    Instruction::UDiv,
    Instruction::UIToFP,
    Instruction::Unreachable,
    Instruction::URem,
    Instruction::Xor,
    Instruction::ZExt,
};

constexpr unsigned kConstantExpressions[] = {
    Instruction::Add,           Instruction::AddrSpaceCast, Instruction::BitCast,
    Instruction::GetElementPtr, Instruction::IntToPtr,      Instruction::PtrToInt,
    Instruction::Sub,           Instruction::Trunc,         Instruction::Xor,
};

constexpr Attribute::AttrKind kAttributes[] = {
    // functions
    Attribute::AlwaysInline,
    Attribute::Cold,
    Attribute::Convergent,
    Attribute::Hot,
    Attribute::InlineHint,
    Attribute::Memory,
    Attribute::MinSize,
    Attribute::MustProgress,
    Attribute::NoBuiltin,
    Attribute::Builtin,
    Attribute::NoCallback,
    Attribute::NoDuplicate,
    Attribute::NoFree,
    Attribute::NoInline,
    Attribute::NoMerge,
    Attribute::NoRecurse,
    Attribute::NoReturn,
    Attribute::NoSync,
    Attribute::NoUnwind,
    Attribute::NullPointerIsValid,
    Attribute::OptimizeForSize,
    Attribute::OptimizeNone,
    Attribute::Speculatable,
    Attribute::WillReturn,
    // parameters and results
    Attribute::Alignment,
    Attribute::AllocAlign,
    Attribute::ByRef,
    Attribute::ByVal,
    Attribute::Dereferenceable,
    Attribute::DereferenceableOrNull,
    Attribute::ElementType,
    Attribute::ImmArg,
    Attribute::NoAlias,
    Attribute::NoCapture,
    Attribute::NoFPClass,
    Attribute::NonNull,
    Attribute::NoUndef,
    Attribute::Range,
    Attribute::ReadNone,
    Attribute::ReadOnly,
    Attribute::Returned,
    Attribute::SExt,
    Attribute::StructRet,
    Attribute::WriteOnly,
    Attribute::Writable,
    Attribute::DeadOnUnwind,
    Attribute::ZExt,
};

constexpr llvm::StringLiteral kTextAttributes[] = {
    "air-buffer-no-alias",
    "approx-func-fp-math",
    "correctly-rounded-divide-sqrt-fp-math",
    "deferred-static-alloca-size",
    "frame-pointer",
    "less-precise-fpmad",
    "min-legal-vector-width",
    "no-builtins",
    "no-infs-fp-math",
    "no-nans-fp-math",
    "no-signed-zeros-fp-math",
    "no-trapping-math",
    "unsafe-fp-math",
};

using llvm::LLVMContext;
constexpr unsigned kMetadata[] = {
    LLVMContext::MD_dbg,
    LLVMContext::MD_tbaa,
    LLVMContext::MD_prof,
    LLVMContext::MD_fpmath,
    LLVMContext::MD_range,
    LLVMContext::MD_tbaa_struct,
    LLVMContext::MD_invariant_load,
    LLVMContext::MD_alias_scope,
    LLVMContext::MD_noalias,
    LLVMContext::MD_nontemporal,
    LLVMContext::MD_mem_parallel_loop_access,
    LLVMContext::MD_nonnull,
    LLVMContext::MD_dereferenceable,
    LLVMContext::MD_dereferenceable_or_null,
    LLVMContext::MD_unpredictable,
    LLVMContext::MD_invariant_group,
    LLVMContext::MD_align,
    LLVMContext::MD_loop,
    LLVMContext::MD_access_group,
    LLVMContext::MD_noundef,
};

}  // namespace

bool has_integer_of(unsigned bits) {
  return bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
}
bool has_intrinsic(llvm::Intrinsic::ID id) {
  return llvm::is_contained(kIntrinsics, id);
}
bool has_opcode(unsigned opcode) {
  return llvm::is_contained(kOpcodes, opcode);
}
bool has_constant_expression(unsigned opcode) {
  return llvm::is_contained(kConstantExpressions, opcode);
}
bool has_attribute(llvm::Attribute::AttrKind kind) {
  return llvm::is_contained(kAttributes, kind);
}
bool has_text_attribute(llvm::StringRef name) {
  return llvm::is_contained(kTextAttributes, name);
}
llvm::ArrayRef<unsigned> metadata_kinds() {
  return kMetadata;
}

}  // namespace smelt::aot::allow_list
