// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WMMA 16x16x16 of GFX11 in waves of 32 lanes: D = A x B + C (docs/formats/triton-amdgcn.md 4.6 and 5.1, way a).
//
//   A: lane l holds row l & 15, all 16 k       B: lane l holds column l & 15, all 16 k; lanes 16-31 repeat 0-15
//   C, D: element e of lane l is (row 2e + (l >> 4), column l & 15)
//
// Every lane has its column of B, and fetches the rows of A that its elements of D need: 8 rows, two numbers (or four
// bytes) a shuffle. Exactly the layout of the instruction, so registers pass through unchanged.
#include "input/amdgcn/packed.hpp"
#include "input/amdgcn/site.hpp"

#include "llvm/IR/Constants.h"

namespace smelt::aot::input::amdgcn {
namespace {

using llvm::Value;

constexpr unsigned kDepth = 16;  ///< k
constexpr unsigned kOwnRows = 8;

bool is_vector(const Value* value, unsigned lanes) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector && vector->getNumElements() == lanes;
}

/// The operands' 32-bit words, lowest k first.
std::vector<Value*> words_of(Site& site, Value* operand) {
  llvm::IRBuilder<>& ir = site.ir();
  const auto* vector = llvm::cast<llvm::FixedVectorType>(operand->getType());
  std::vector<Value*> words;
  if (vector->getScalarSizeInBits() == 32) {
    for (unsigned i = 0; i < vector->getNumElements(); ++i) words.push_back(ir.CreateExtractElement(operand, i));
    return words;
  }
  llvm::Type* const pair_type = llvm::FixedVectorType::get(vector->getElementType(), 2);
  for (unsigned i = 0; i < vector->getNumElements(); i += 2) {
    Value* pair = llvm::PoisonValue::get(pair_type);
    for (unsigned half = 0; half < 2; ++half)
      pair = ir.CreateInsertElement(pair, ir.CreateExtractElement(operand, i + half), half);
    words.push_back(ir.CreateBitCast(pair, ir.getInt32Ty()));
  }
  return words;
}

/// The lane that holds the row of A for element `e` of the own D.
Value* row_lane(Site& site, Value* upper, unsigned e) {
  return site.lane(site.ir().CreateAdd(upper, site.ir().getInt32(2 * e)));
}

Value* upper_half(Site& site) {
  return site.ir().CreateLShr(site.lane_id(), 4);
}

Value* fetch(Site& site, Value* word, Value* lane) {
  return site.air("air.simd_shuffle.u.i32", site.ir().getInt32Ty(), {word, lane}, true);
}

Result<void> check_lanes(Site& site) {
  if (site.maybe_partial())
    return site.refuse("stands where some lanes of a wave may be off; the instruction uses the registers of all");
  return {};
}

/// wmma.f32.16x16x16.{f16,bf16}(A, B, C)
Result<Value*> float_product(Site& site) {
  SMELT_TRY_VOID(check_lanes(site));
  llvm::IRBuilder<>& ir = site.ir();
  if (site.call().arg_size() != 3 || !is_vector(site.argument(0), kDepth) || !is_vector(site.argument(1), kDepth) ||
      !is_vector(site.argument(2), kOwnRows) || !site.type()->getScalarType()->isFloatTy())
    return site.refuse("only GFX11's form for waves of 32 lanes, 16 numbers in and 8 floats out, is done");
  llvm::Type* const small = llvm::cast<llvm::FixedVectorType>(site.argument(0)->getType())->getElementType();
  llvm::Type* const pair_type = llvm::FixedVectorType::get(small, 2);
  const std::vector<Value*> rows = words_of(site, site.argument(0));
  std::vector<Value*> column;
  for (unsigned k = 0; k < kDepth; ++k)
    column.push_back(small_to_float(ir, ir.CreateExtractElement(site.argument(1), k)));
  Value* const upper = upper_half(site);
  Value* result = site.argument(2);
  for (unsigned e = 0; e < kOwnRows; ++e) {
    Value* const lane = row_lane(site, upper, e);
    Value* sum = ir.CreateExtractElement(site.argument(2), e);
    for (unsigned k = 0; k < kDepth; k += 2) {
      Value* const pair = ir.CreateBitCast(fetch(site, rows[k / 2], lane), pair_type);
      for (unsigned half = 0; half < 2; ++half) {
        Value* const a = small_to_float(ir, ir.CreateExtractElement(pair, half));
        sum = site.air("air.fma.f32", ir.getFloatTy(), {a, column[k + half], sum}, false);
      }
    }
    result = ir.CreateInsertElement(result, sum, e);
  }
  return result;
}

/// wmma.i32.16x16x16.{iu8,iu4}(A signed, A, B signed, B, C, clamp)
Result<Value*> integer_product(Site& site, unsigned bits) {
  SMELT_TRY_VOID(check_lanes(site));
  llvm::IRBuilder<>& ir = site.ir();
  const auto a_signed = site.constant(0), b_signed = site.constant(2), clamp = site.constant(5);
  if (!a_signed || !b_signed || !clamp) return site.refuse("signs and clamp that are no constants");
  const unsigned words = kDepth * bits / 32;
  if (!is_vector(site.argument(1), words) || !is_vector(site.argument(3), words) ||
      !is_vector(site.argument(4), kOwnRows) || !site.type()->getScalarType()->isIntegerTy(32))
    return site.refuse("only GFX11's form for waves of 32 lanes is done");
  const unsigned fields = 32 / bits;
  const std::vector<Value*> rows = words_of(site, site.argument(1));
  const std::vector<Value*> column_words = words_of(site, site.argument(3));
  std::vector<Value*> column;
  for (unsigned k = 0; k < kDepth; ++k)
    column.push_back(packed_integer(ir, column_words[k / fields], k % fields, bits, *b_signed != 0));
  Value* const upper = upper_half(site);
  Value* result = site.argument(4);
  for (unsigned e = 0; e < kOwnRows; ++e) {
    Value* const lane = row_lane(site, upper, e);
    Value* const before = ir.CreateExtractElement(site.argument(4), e);
    Value* sum = *clamp ? ir.getInt32(0) : before;
    for (unsigned word = 0; word < words; ++word) {
      Value* const fetched = fetch(site, rows[word], lane);
      for (unsigned i = 0; i < fields; ++i)
        sum = ir.CreateAdd(
            sum, ir.CreateMul(packed_integer(ir, fetched, i, bits, *a_signed != 0), column[word * fields + i]));
    }
    if (*clamp) sum = add_saturating(ir, sum, before, true);
    result = ir.CreateInsertElement(result, sum, e);
  }
  return result;
}

constexpr Row kWmmaRows[] = {
    {"wmma.f32.16x16x16.f16", float_product},
    {"wmma.f32.16x16x16.bf16", float_product},
    {"wmma.i32.16x16x16.iu8", [](Site& site) { return integer_product(site, 8); }},
    {"wmma.i32.16x16x16.iu4", [](Site& site) { return integer_product(site, 4); }},
};

}  // namespace

std::span<const Row> matrix_rows() {
  return kWmmaRows;
}

}  // namespace smelt::aot::input::amdgcn
