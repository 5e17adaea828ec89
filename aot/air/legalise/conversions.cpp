// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer <-> float is always air.convert, the only form that Apple's compiler writes; vectors of floats convert with
// it too, while scalar fpext and fptrunc stay (docs/formats/air.md 3.3). bfloat goes through float: conversions
// straight between bfloat and integers have been reported wrong. Runs after split_values, so every type has a name.
// Integers of 8 and 16 bits are extended to 32 first where Apple's compiler does that: unsigned ones, and those that
// become half.
//
//   %f = sitofp i32 %i to float                ->  %f = call float @air.convert.f.f32.s.i32(i32 %i)
//   %h = fptrunc <4 x float> %v to <4 x half>  ->  %h = call <4 x half> @air.convert.f.v4f16.f.v4f32(<4 x float> %v)
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

struct Conversion {
  char to_kind, from_kind;  // 'f', 's' or 'u'
};

std::optional<Conversion> conversion_of(const llvm::CastInst& cast) {
  switch (cast.getOpcode()) {
    case llvm::Instruction::SIToFP:
      return Conversion{'f', 's'};
    case llvm::Instruction::UIToFP:
      return Conversion{'f', 'u'};
    case llvm::Instruction::FPToSI:
      return Conversion{'s', 'f'};
    case llvm::Instruction::FPToUI:
      return Conversion{'u', 'f'};
    case llvm::Instruction::FPExt:
    case llvm::Instruction::FPTrunc:
      if (cast.getType()->isVectorTy()) return Conversion{'f', 'f'};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Result<llvm::Value*> convert(llvm::IRBuilder<>& builder, const PassContext& context, llvm::Value* value,
                             llvm::Type* type, Conversion kind) {
  const auto to = air_type(type);
  const auto from = air_type(value->getType());
  if (!to || !from)
    return fail(Errc::compile_failed, "no AIR conversion from {} to {}", text_of(*value->getType()), text_of(*type));
  const std::string name =
      fmt::format("air.convert.{}.{}.{}.{}", kind.to_kind, spell(*to), kind.from_kind, spell(*from));
  SMELT_TRY(llvm::CallInst* const call, call_air(builder, context, name, {value}));
  return call;
}

/// Whether Apple's compiler converts integers of this type by way of i32. It has forms of its own for a truth value,
/// and from signed numbers to float.
bool extends_first(llvm::Type* from, llvm::Type* to, Conversion kind) {
  if (kind.to_kind != 'f' || kind.from_kind == 'f') return false;
  if (!from->isIntegerTy(8) && !from->isIntegerTy(16)) return false;
  return kind.from_kind == 'u' || to->isHalfTy();
}

/// One of the two is bfloat and the other an integer: float in between. Rounding twice is exact for what bfloat can
/// hold of 8- and 16-bit integers; wider ones round to float first, as Apple's own two-step does.
Result<llvm::Value*> convert_through_float(llvm::IRBuilder<>& builder, const PassContext& context, llvm::Value* value,
                                           llvm::Type* type, Conversion kind) {
  llvm::Type* const single = value->getType()->getWithNewType(builder.getFloatTy());
  const auto between_floats = [&](llvm::Value* from, llvm::Type* to) -> Result<llvm::Value*> {
    if (to->isVectorTy()) return convert(builder, context, from, to, {'f', 'f'});
    return to->isBFloatTy() ? builder.CreateFPTrunc(from, to) : builder.CreateFPExt(from, to);
  };
  if (kind.from_kind == 'f') {
    SMELT_TRY(llvm::Value* const wide, between_floats(value, single));
    return convert(builder, context, wide, type, kind);
  }
  SMELT_TRY(llvm::Value* const wide, convert(builder, context, value, single, kind));
  return between_floats(wide, type);
}

}  // namespace

Result<void> conversions(PassContext& context) {
  for (llvm::Instruction* instruction : instructions_of(context.module)) {
    auto* cast = llvm::dyn_cast<llvm::CastInst>(instruction);
    if (!cast) continue;
    const std::optional<Conversion> kind = conversion_of(*cast);
    if (!kind) continue;
    llvm::IRBuilder<> builder(cast);
    llvm::Value* source = cast->getOperand(0);
    std::optional<Conversion> as = kind;
    if (extends_first(source->getType(), cast->getType(), *kind)) {
      source = kind->from_kind == 'u' ? builder.CreateZExt(source, builder.getInt32Ty())
                                      : builder.CreateSExt(source, builder.getInt32Ty());
      as->from_kind = 's';  // i32 holds all of them
    }
    const bool is_bfloat =
        cast->getType()->getScalarType()->isBFloatTy() || source->getType()->getScalarType()->isBFloatTy();
    const bool with_integer = kind->to_kind != 'f' || kind->from_kind != 'f';
    auto made = is_bfloat && with_integer ? convert_through_float(builder, context, source, cast->getType(), *as)
                                          : convert(builder, context, source, cast->getType(), *as);
    if (!made) return refuse(*cast, "{}", made.error().message);
    (*made)->takeName(cast);
    cast->replaceAllUsesWith(*made);
    cast->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::air
