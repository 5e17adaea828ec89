// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_ir/cpu_only.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::kernel_ir {
namespace {

using llvm::CmpInst;
using llvm::Instruction;
using Kind = DoubleKind;
namespace id = llvm::Intrinsic;

constexpr DoubleOperation kOperations[] = {
    {"acos", "dd", Kind::function},
    {"acosh", "dd", Kind::function},
    {"add", "ddd", Kind::instruction, Instruction::FAdd},
    {"asin", "dd", Kind::function},
    {"asinh", "dd", Kind::function},
    {"atan", "dd", Kind::function},
    {"atan2", "ddd", Kind::function},
    {"atanh", "dd", Kind::function},
    {"cbrt", "dd", Kind::function},
    {"ceil", "dd", Kind::intrinsic, id::ceil},
    {"class", "bdi", Kind::class_test},
    {"copysign", "ddd", Kind::intrinsic, id::copysign},
    {"cos", "dd", Kind::function},
    {"cosh", "dd", Kind::function},
    {"cospi", "dd", Kind::function},
    {"div", "ddd", Kind::instruction, Instruction::FDiv},
    {"erf", "dd", Kind::function},
    {"erfc", "dd", Kind::function},
    {"exp", "dd", Kind::function},
    {"exp10", "dd", Kind::function},
    {"exp2", "dd", Kind::function},
    {"expm1", "dd", Kind::function},
    {"fabs", "dd", Kind::intrinsic, id::fabs},
    {"floor", "dd", Kind::intrinsic, id::floor},
    {"fma", "dddd", Kind::intrinsic, id::fma},
    {"fmod", "ddd", Kind::function},
    {"frexp_exponent", "id", Kind::function},
    {"frexp_fraction", "dd", Kind::function},
    {"from_bf16", "dy", Kind::from_float},
    {"from_f16", "dh", Kind::from_float},
    {"from_f32", "df", Kind::from_float},
    {"from_s32", "di", Kind::from_signed},
    {"from_s64", "dl", Kind::from_signed},
    {"from_u32", "di", Kind::from_unsigned},
    {"from_u64", "dl", Kind::from_unsigned},
    {"hypot", "ddd", Kind::function},
    {"ldexp", "ddi", Kind::function},
    {"log", "dd", Kind::function},
    {"log10", "dd", Kind::function},
    {"log1p", "dd", Kind::function},
    {"log2", "dd", Kind::function},
    {"maximum", "ddd", Kind::intrinsic, id::maximum},
    {"maxnum", "ddd", Kind::intrinsic, id::maxnum},
    {"minimum", "ddd", Kind::intrinsic, id::minimum},
    {"minnum", "ddd", Kind::intrinsic, id::minnum},
    {"mul", "ddd", Kind::instruction, Instruction::FMul},
    {"neg", "dd", Kind::negation},
    {"nextafter", "ddd", Kind::function},
    {"oeq", "bdd", Kind::comparison, CmpInst::FCMP_OEQ},
    {"oge", "bdd", Kind::comparison, CmpInst::FCMP_OGE},
    {"ogt", "bdd", Kind::comparison, CmpInst::FCMP_OGT},
    {"ole", "bdd", Kind::comparison, CmpInst::FCMP_OLE},
    {"olt", "bdd", Kind::comparison, CmpInst::FCMP_OLT},
    {"one", "bdd", Kind::comparison, CmpInst::FCMP_ONE},
    {"ord", "bdd", Kind::comparison, CmpInst::FCMP_ORD},
    {"pow", "ddd", Kind::function},
    {"rint", "dd", Kind::intrinsic, id::rint},
    {"round", "dd", Kind::intrinsic, id::round},
    {"roundeven", "dd", Kind::intrinsic, id::roundeven},
    {"rsqrt", "dd", Kind::function},
    {"sin", "dd", Kind::function},
    {"sinh", "dd", Kind::function},
    {"sinpi", "dd", Kind::function},
    {"sqrt", "dd", Kind::intrinsic, id::sqrt},
    {"sub", "ddd", Kind::instruction, Instruction::FSub},
    {"tan", "dd", Kind::function},
    {"tanh", "dd", Kind::function},
    {"to_bf16", "yd", Kind::to_float},
    {"to_f16", "hd", Kind::to_float},
    {"to_f32", "fd", Kind::to_float},
    {"to_s32", "id", Kind::to_signed},
    {"to_s64", "ld", Kind::to_signed},
    {"to_u32", "id", Kind::to_unsigned},
    {"to_u64", "ld", Kind::to_unsigned},
    {"trig_preop", "ddi", Kind::function},
    {"trunc", "dd", Kind::intrinsic, id::trunc},
    {"ueq", "bdd", Kind::comparison, CmpInst::FCMP_UEQ},
    {"uge", "bdd", Kind::comparison, CmpInst::FCMP_UGE},
    {"ugt", "bdd", Kind::comparison, CmpInst::FCMP_UGT},
    {"ule", "bdd", Kind::comparison, CmpInst::FCMP_ULE},
    {"ult", "bdd", Kind::comparison, CmpInst::FCMP_ULT},
    {"une", "bdd", Kind::comparison, CmpInst::FCMP_UNE},
    {"uno", "bdd", Kind::comparison, CmpInst::FCMP_UNO},
};

llvm::Type* letter_type(char letter, llvm::LLVMContext& context) {
  switch (letter) {
    case 'b':
      return llvm::Type::getInt1Ty(context);
    case 'i':
      return llvm::Type::getInt32Ty(context);
    case 'f':
      return llvm::Type::getFloatTy(context);
    case 'h':
      return llvm::Type::getHalfTy(context);
    case 'y':
      return llvm::Type::getBFloatTy(context);
    default:
      return llvm::Type::getInt64Ty(context);
  }
}

/// NAME.SPACE, one pointer to that space, and 64 bits for what is stored, compared with, or given back.
bool is_wide_atomic(llvm::StringRef name, const llvm::FunctionType& type) {
  const auto [operation, space] = name.rsplit('.');
  if (type.getNumParams() == 0 || (space != "1" && space != "3")) return false;
  const llvm::Type* const pointer = type.getParamType(0);
  if (!pointer->isPointerTy() || pointer->getPointerAddressSpace() != static_cast<unsigned>(space[0] - '0'))
    return false;
  const unsigned values = operation == "load" ? 0 : operation == "cmpxchg" ? 2 : 1;
  if (type.getNumParams() != 1 + values) return false;
  const bool is_store = operation == "store";
  return (is_store ? type.getReturnType()->isVoidTy() : type.getReturnType()->isIntegerTy(64)) &&
         llvm::all_of(type.params().drop_front(), [](const llvm::Type* value) { return value->isIntegerTy(64); });
}

}  // namespace

const DoubleOperation* find_double_operation(llvm::StringRef name) {
  const auto* const found = llvm::lower_bound(
      kOperations, name, [](const DoubleOperation& one, llvm::StringRef wanted) { return one.name < wanted; });
  return found != std::end(kOperations) && found->name == name ? found : nullptr;
}

llvm::FunctionType* function_type(const DoubleOperation& operation, llvm::LLVMContext& context) {
  llvm::SmallVector<llvm::Type*, 3> operands;
  for (const char letter : operation.types.drop_front()) operands.push_back(letter_type(letter, context));
  return llvm::FunctionType::get(letter_type(operation.types[0], context), operands, false);
}

bool is_cpu_only_operation(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  if (name.consume_front(kWideAtomicPrefix)) return is_wide_atomic(name, *function.getFunctionType());
  if (!name.consume_front(kDoublePrefix)) return false;
  const DoubleOperation* const operation = find_double_operation(name);
  return operation && function.getFunctionType() == function_type(*operation, function.getContext());
}

bool is_cpu_only(const llvm::Module& module) {
  return module.getNamedMetadata(kCpuOnlyMark) != nullptr;
}

void mark_cpu_only(llvm::Module& module) {
  if (!is_cpu_only(module))
    module.getOrInsertNamedMetadata(kCpuOnlyMark)
        ->addOperand(llvm::MDNode::get(module.getContext(), llvm::MDString::get(module.getContext(), "no Apple GPU")));
}

}  // namespace smelt::aot::kernel_ir
