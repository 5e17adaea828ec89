// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on the numbers of one lane (docs/formats/triton-amdgcn.md 4.4). AMD's bare instructions are good to about
// 1 ulp and flush subnormals; AIR's plain (not fast) operations are at least as good.
#include "ir/amdgcn/site.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::input::amdgcn {
namespace {

using llvm::Value;

Value* real(Site& site, double value) {
  return llvm::ConstantFP::get(site.type(), value);
}

/// Types that AIR's mathematics has.
Result<void> check_real(Site& site) {
  const llvm::Type* const type = site.argument(0)->getType()->getScalarType();
  // double: for the CPU alone; elsewhere the legaliser refuses it
  if (type->isFloatTy() || type->isHalfTy() || type->isDoubleTy()) return {};
  return site.refuse("only double, float and half are supported");
}

template <const char* const& operation>
Result<Value*> renamed(Site& site) {
  SMELT_TRY_VOID(check_real(site));
  const llvm::SmallVector<Value*, 3> operands(site.call().args());
  return site.math(operation, operands);
}
constexpr const char* kSqrt = "sqrt";
constexpr const char* kRsqrt = "rsqrt";
constexpr const char* kExp2 = "exp2";
constexpr const char* kLog2 = "log2";
constexpr const char* kFract = "fract";
constexpr const char* kMedian = "fmedian3";

Result<Value*> reciprocal(Site& site) {
  SMELT_TRY_VOID(check_real(site));
  return site.ir().CreateFDiv(real(site, 1.0), site.argument(0));
}

/// Sine and cosine of AMD count in turns: sin(2 pi x).
Result<Value*> turns(Site& site, std::string_view operation) {
  SMELT_TRY_VOID(check_real(site));
  Value* const half_turns = site.ir().CreateFMul(site.argument(0), real(site, 2.0));
  return site.math(operation, {half_turns});
}

/// x - floor(x), below 1. AIR's own is of float and half.
Result<Value*> fraction_above_floor(Site& site) {
  if (!site.type()->isDoubleTy()) return renamed<kFract>(site);
  llvm::IRBuilder<>& ir = site.ir();
  Value* const x = site.argument(0);
  Value* const rest = ir.CreateFSub(x, ir.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x));
  Value* const below_one = real(site, 0x1.fffffffffffffp-1);
  return ir.CreateSelect(ir.CreateFCmpOGT(rest, below_one), below_one, rest);
}

/// trig.preop(x, segment): 53 bits of 2/pi, from where x's exponent and the segment say.
Result<Value*> bits_of_two_over_pi(Site& site) {
  if (!site.type()->isDoubleTy()) return site.refuse("only double is supported");
  llvm::IRBuilder<>& ir = site.ir();
  return site.air("air.trig_preop.f64", site.type(),
                  {site.argument(0), ir.CreateZExtOrTrunc(site.argument(1), ir.getInt32Ty())}, false);
}

/// llvm.frexp's pair; infinities and NaN have themselves as fraction and 0 as exponent.
Value* frexp_part(Site& site, unsigned part) {
  llvm::IRBuilder<>& ir = site.ir();
  Value* const x = site.argument(0);
  Value* const pair = ir.CreateIntrinsic(llvm::Intrinsic::frexp, {x->getType(), ir.getInt32Ty()}, {x});
  Value* const finite =
      ir.CreateFCmpOLT(ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), llvm::ConstantFP::getInfinity(x->getType()));
  if (part == 0) return ir.CreateSelect(finite, ir.CreateExtractValue(pair, 0), x);
  Value* const exponent = ir.CreateSelect(finite, ir.CreateExtractValue(pair, 1), ir.getInt32(0));
  return ir.CreateSExtOrTrunc(exponent, site.type());
}

Result<Value*> fraction(Site& site) {
  SMELT_TRY_VOID(check_real(site));
  return frexp_part(site, 0);
}
Result<Value*> exponent(Site& site) {
  SMELT_TRY_VOID(check_real(site));
  return frexp_part(site, 1);
}
Result<Value*> scale(Site& site) {
  SMELT_TRY_VOID(check_real(site));
  llvm::IRBuilder<>& ir = site.ir();
  Value* const power = ir.CreateSExtOrTrunc(site.argument(1), ir.getInt32Ty());
  return ir.CreateIntrinsic(llvm::Intrinsic::ldexp, {site.type(), ir.getInt32Ty()}, {site.argument(0), power});
}

/// class(x, mask): AMD's bits are LLVM's.
Result<Value*> is_class(Site& site) {
  SMELT_TRY_VOID(check_real(site));
  const auto mask = site.constant(1);
  if (!mask) return site.refuse("the class mask must be a constant");
  return site.ir().createIsFPClass(site.argument(0), static_cast<unsigned>(*mask & 0x3ff));
}

/// Two floats to two halves, towards zero.
Result<Value*> pack_halves(Site& site) {
  llvm::IRBuilder<>& ir = site.ir();
  Value* pair = llvm::PoisonValue::get(site.type());
  for (unsigned i = 0; i < 2; ++i)
    pair = ir.CreateInsertElement(
        pair, site.air("air.convert.f.f16.f.f32.rtz", ir.getHalfTy(), {site.argument(i)}, false), i);
  return pair;
}

/// ubfe, sbfe(x, offset, width): only 5 bits of offset and width count; width 0 gives 0.
Result<Value*> bit_field(Site& site, bool is_signed) {
  if (!site.type()->isIntegerTy(32)) return site.refuse("only fields of 32 bits are supported");
  llvm::IRBuilder<>& ir = site.ir();
  Value* const offset = ir.CreateAnd(site.argument(1), 31);
  Value* const width = ir.CreateAnd(site.argument(2), 31);
  Value* const shifted = is_signed ? ir.CreateAShr(site.argument(0), offset) : ir.CreateLShr(site.argument(0), offset);
  Value* const unused = ir.CreateAnd(ir.CreateSub(ir.getInt32(32), width), 31);
  Value* const top = ir.CreateShl(shifted, unused);
  Value* const field = is_signed ? ir.CreateAShr(top, unused) : ir.CreateLShr(top, unused);
  return ir.CreateSelect(ir.CreateICmpEQ(width, ir.getInt32(0)), ir.getInt32(0), field);
}

/// The byte of the pair, or the constant, that the lowest byte of a selector names; nothing else of it counts.
Value* pick_byte(llvm::IRBuilder<>& ir, Value* high, Value* low, Value* selector) {
  Value* const pick = ir.CreateAnd(selector, 0xff);
  const auto has = [&](uint32_t bit) { return ir.CreateICmpNE(ir.CreateAnd(pick, bit), ir.getInt32(0)); };
  Value* const word = ir.CreateSelect(has(4), high, low);
  Value* const byte = ir.CreateAnd(ir.CreateLShr(word, ir.CreateShl(ir.CreateAnd(pick, 3), 3)), 0xff);
  // 8 to 11: the sign of a half word, eight times.
  Value* const signed_word = ir.CreateSelect(has(2), high, low);
  Value* const shifted = ir.CreateSelect(has(1), signed_word, ir.CreateShl(signed_word, 16));
  Value* const sign = ir.CreateAnd(ir.CreateAShr(shifted, 31), 0xff);
  Value* const constant = ir.CreateSelect(ir.CreateICmpEQ(pick, ir.getInt32(12)), ir.getInt32(0), ir.getInt32(0xff));
  Value* const other = ir.CreateSelect(ir.CreateICmpULT(pick, ir.getInt32(12)), sign, constant);
  return ir.CreateSelect(ir.CreateICmpULT(pick, ir.getInt32(8)), byte, other);
}

/// perm(high, low, selector): each byte of the result is a byte of the pair, or a constant.
Result<Value*> permute_bytes(Site& site) {
  llvm::IRBuilder<>& ir = site.ir();
  Value* made = ir.getInt32(0);
  for (unsigned i = 0; i < 4; ++i) {
    Value* const byte = pick_byte(ir, site.argument(0), site.argument(1), ir.CreateLShr(site.argument(2), 8 * i));
    made = ir.CreateOr(made, ir.CreateShl(byte, 8 * i));
  }
  return made;
}

/// The low 32 bits of the product of two 24-bit numbers.
Result<Value*> multiply24(Site& site, bool is_signed) {
  if (!site.type()->isIntegerTy(32)) return site.refuse("only a result of 32 bits is supported");
  llvm::IRBuilder<>& ir = site.ir();
  const auto narrow = [&](Value* value) {
    value = ir.CreateShl(value, 8);
    return is_signed ? ir.CreateAShr(value, 8) : ir.CreateLShr(value, 8);
  };
  return ir.CreateMul(narrow(site.argument(0)), narrow(site.argument(1)));
}

/// alignbyte(high, low, count): the pair shifted right by bytes.
Result<Value*> align_bytes(Site& site) {
  llvm::IRBuilder<>& ir = site.ir();
  Value* const bits = ir.CreateShl(ir.CreateAnd(site.argument(2), 3), 3);
  return ir.CreateIntrinsic(llvm::Intrinsic::fshr, {ir.getInt32Ty()}, {site.argument(0), site.argument(1), bits});
}

constexpr Row kMathRows[] = {
    {"sqrt", renamed<kSqrt>},
    {"rsq", renamed<kRsqrt>},
    {"exp2", renamed<kExp2>},
    {"log", renamed<kLog2>},
    {"fract", fraction_above_floor},
    {"trig.preop", bits_of_two_over_pi},
    {"fmed3", renamed<kMedian>},
    {"rcp", reciprocal},
    {"sin", [](Site& site) { return turns(site, "sinpi"); }},
    {"cos", [](Site& site) { return turns(site, "cospi"); }},
    {"frexp.mant", fraction},
    {"frexp.exp", exponent},
    {"ldexp", scale},
    {"class", is_class},
    {"cvt.pkrtz", pack_halves},
    {"ubfe", [](Site& site) { return bit_field(site, false); }},
    {"sbfe", [](Site& site) { return bit_field(site, true); }},
    {"perm", permute_bytes},
    {"mul.u24", [](Site& site) { return multiply24(site, false); }},
    {"mul.i24", [](Site& site) { return multiply24(site, true); }},
    {"alignbyte", align_bytes},
};

}  // namespace

std::span<const Row> math_rows() {
  return kMathRows;
}

}  // namespace smelt::aot::input::amdgcn
