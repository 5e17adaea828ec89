// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WMMA of GFX11 and GFX12 in waves of 32 lanes: D = A x B + C (docs/formats/triton-amdgcn.md 4.6 and 5.1, way a). Lane
// l has row l & 15 of A and column l & 15 of B and of C and D:
//
//            of A and B                              element e of C and D
//   GFX11    all k; lanes 16-31 repeat 0-15          row 2e + (l >> 4)
//   GFX12    the half of k that l >> 4 says          row 8 (l >> 4) + e
//
// Every lane needs its column of B whole, and fetches the rows of A that its elements of D need: 8 rows, one number a
// shuffle, which the lane that has it has widened already. Exactly the layout of the instruction, so registers pass
// through unchanged.
//
// A kernel has hundreds of these, each of 128 shuffles and 128 products. So four elements of D, which is what fits a
// vector of AIR, are made by a function in float, of which there is one for each layout; what numbers are small ones of
// is the caller's, where fragments that several products share are widened once.
#include "ir/amdgcn/packed.hpp"
#include "ir/amdgcn/site.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"

#include <array>
#include <bit>

namespace smelt::aot::input::amdgcn {
namespace {

using llvm::Value;

constexpr unsigned kOwnRows = 8;
constexpr unsigned kRows = 16;
/// Elements of a vector: of D that one call makes.
constexpr unsigned kTogether = 4;

/// In the middle of the floats that are whole numbers, one after another, and its bits.
constexpr float kWholeNumbers = 0x1.8p23F;
constexpr uint32_t kWholeBits = 0x4b400000;
static_assert(std::bit_cast<uint32_t>(kWholeNumbers) == kWholeBits);

/// Small numbers of A and B that add up in float.
enum class Kind : uint8_t { sixteen_bits, e4m3, e5m2 };

bool is_vector(const Value* value, unsigned lanes) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector && vector->getNumElements() == lanes;
}

/// The operand's 32-bit words, lowest k first.
std::vector<Value*> words_of(Site& site, Value* operand) {
  llvm::IRBuilder<>& ir = site.ir();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(operand->getType());
  if (!vector) return {operand};
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

llvm::Value* from_lane(llvm::IRBuilder<>& ir, std::string_view operation, Value* value, Value* lane) {
  const std::string name = fmt::format("air.simd_{}.{}", operation, air_suffix(value->getType(), false, true));
  llvm::CallInst* const fetched =
      call_air(ir, name, value->getType(), {value, ir.CreateTrunc(lane, ir.getInt16Ty())}, true);
  fetched->setDoesNotAccessMemory();  // columns that products share are exchanged once
  return fetched;
}

/// Four elements of D in the layout of one generation, and the columns and rows that they need.
class Wave {
 public:
  /// `is_gfx12`: a lane's registers hold half of k.
  Wave(Site& site, bool is_gfx12) : site_(site), is_gfx12_(is_gfx12) {}

  bool is_gfx12() const { return is_gfx12_; }

  /// The words of the own column, of which a lane of GFX12 has half.
  std::vector<Value*> column(const std::vector<Value*>& own) {
    if (!is_gfx12_) return own;
    llvm::IRBuilder<>& ir = site_.ir();
    Value* const is_upper = ir.CreateICmpNE(upper(), ir.getInt32(0));
    std::vector<Value*> low, high;
    for (Value* word : own) {
      Value* const other = from_lane(ir, "shuffle_xor", word, ir.getInt32(kRows));
      low.push_back(ir.CreateSelect(is_upper, other, word));
      high.push_back(ir.CreateSelect(is_upper, word, other));
    }
    low.insert(low.end(), high.begin(), high.end());
    return low;
  }

  /// Elements `first` to `first` + 3 of D: the products of the own numbers of A's rows and those of the whole column
  /// of B, added to `sums`, in the order of k.
  Value* multiply(llvm::ArrayRef<Value*> row, llvm::ArrayRef<Value*> column, Value* sums, unsigned first) {
    llvm::IRBuilder<>& ir = site_.ir();
    const size_t own = is_gfx12_ ? kRows / 2 : kRows;
    // Deeper products (of GFX12 alone) are several of depth 16.
    for (size_t at = 0; at < row.size(); at += own) {
      std::vector<Value*> arguments = fours(row.slice(at, own));
      std::vector<Value*> numbers = column.slice(at, own).vec();
      if (is_gfx12_) llvm::append_range(numbers, column.slice(row.size() + at, own));
      llvm::append_range(arguments, fours(numbers));
      arguments.push_back(sums);
      arguments.push_back(is_gfx12_ ? ir.CreateAdd(ir.CreateShl(upper(), 3), ir.getInt32(first))
                                    : ir.CreateAdd(upper(), ir.getInt32(2 * first)));
      llvm::CallInst* const call = ir.CreateCall(&function(), arguments);
      call->setConvergent();
      sums = call;
    }
    return sums;
  }

 private:
  Value* upper() {
    if (!upper_) upper_ = site_.ir().CreateLShr(site_.lane_id(), 4);
    return upper_;
  }

  std::vector<Value*> fours(llvm::ArrayRef<Value*> numbers) {
    llvm::IRBuilder<>& ir = site_.ir();
    std::vector<Value*> vectors;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (i % kTogether == 0)
        vectors.push_back(llvm::PoisonValue::get(llvm::FixedVectorType::get(ir.getFloatTy(), kTogether)));
      vectors.back() = ir.CreateInsertElement(vectors.back(), numbers[i], i % kTogether);
    }
    return vectors;
  }

  /// <4 x float> (A's own numbers, B's column, <4 x float> sums, i32 lane that has the first element's row).
  llvm::Function& function() {
    llvm::Module& module = *site_.call().getModule();
    const char* const name = is_gfx12_ ? "smelt.wmma.gfx12" : "smelt.wmma.gfx11";
    if (llvm::Function* made = module.getFunction(name)) return *made;
    llvm::LLVMContext& context = module.getContext();
    auto* const four = llvm::FixedVectorType::get(llvm::Type::getFloatTy(context), kTogether);
    const unsigned of_row = (is_gfx12_ ? kRows / 2 : kRows) / kTogether;
    const unsigned of_column = kRows / kTogether;
    std::vector<llvm::Type*> parameters(of_row + of_column + 1, four);
    parameters.push_back(llvm::Type::getInt32Ty(context));
    auto* const made = llvm::Function::Create(llvm::FunctionType::get(four, parameters, false),
                                              llvm::GlobalValue::InternalLinkage, name, module);
    made->setConvergent();
    made->setDoesNotThrow();
    made->setWillReturn();
    made->setDoesNotAccessMemory();
    llvm::IRBuilder<> ir(llvm::BasicBlock::Create(context, "entry", made));
    const auto numbers = [&](unsigned first, unsigned count) {
      std::vector<Value*> all;
      for (unsigned i = 0; i < count * kTogether; ++i)
        all.push_back(ir.CreateExtractElement(made->getArg(first + i / kTogether), i % kTogether));
      return all;
    };
    const std::vector<Value*> row = numbers(0, of_row);
    const std::vector<Value*> column = numbers(of_row, of_column);
    Value* result = made->getArg(of_row + of_column);
    Value* const lane = made->getArg(of_row + of_column + 1);
    // Two elements at a time: their sums do not wait for each other, and a number of B serves both.
    for (unsigned e = 0; e < kTogether; e += 2) {
      std::array<Value*, 2> sums{}, lanes{};
      for (unsigned i = 0; i < 2; ++i) {
        sums[i] = ir.CreateExtractElement(result, e + i);
        lanes[i] = ir.CreateAdd(lane, ir.getInt32((is_gfx12_ ? 1 : 2) * (e + i)));
      }
      for (unsigned k = 0; k < kRows; ++k)
        for (unsigned i = 0; i < 2; ++i) {
          Value* const from = k < row.size() ? lanes[i] : ir.CreateAdd(lanes[i], ir.getInt32(kRows));
          Value* const fetched = from_lane(ir, "shuffle", row[k % row.size()], from);
          sums[i] = call_air(ir, "air.fma.f32", ir.getFloatTy(), {fetched, column[k], sums[i]}, false);
        }
      for (unsigned i = 0; i < 2; ++i) result = ir.CreateInsertElement(result, sums[i], e + i);
    }
    ir.CreateRet(result);
    return *made;
  }

  Site& site_;
  Value* upper_ = nullptr;
  bool is_gfx12_;
};

/// Whether A and B are GFX12's, which hold half of `depth` numbers; an error when they are neither's.
Result<bool> is_gfx12(Site& site, unsigned a, unsigned b, unsigned depth, unsigned bits) {
  const auto width = [&](unsigned operand) -> uint64_t {
    return site.argument(operand)->getType()->getPrimitiveSizeInBits().getFixedValue();
  };
  const uint64_t whole = uint64_t{depth} * bits;
  const bool is_half = width(a) == whole / 2 && width(b) == whole / 2;
  const bool is_whole = depth == kRows && bits != 0 && width(a) == whole && width(b) == whole;
  if (!is_half && !is_whole)
    return site.refuse(
        "only the forms of GFX11 and GFX12 for waves of 32 lanes are supported, with {} or {} bits of A and B in each "
        "lane",
        whole, whole / 2);
  if (site.maybe_partial())
    return site.refuse("may run while some lanes of a wave are off; the instruction uses the registers of all lanes");
  return is_half;
}

/// One word of small numbers, and a number of it as float.
Value* open(Site& site, Value* word, Kind kind, llvm::Type* element) {
  if (kind != Kind::sixteen_bits) return word;
  return site.ir().CreateBitCast(word, llvm::FixedVectorType::get(element, 2));
}
Value* number(Site& site, Value* opened, Kind kind, unsigned index) {
  llvm::IRBuilder<>& ir = site.ir();
  if (kind == Kind::sixteen_bits) return small_to_float(ir, ir.CreateExtractElement(opened, index));
  return byte_to_float(ir, packed_integer(ir, opened, index, 8, false), kind == Kind::e4m3 ? 4 : 5);
}

struct Kinds {
  Kind a, b;
};

/// What an accumulator of 16 bits is rounded to.
Value* narrowed(llvm::IRBuilder<>& ir, Value* sum, llvm::Type* type) {
  if (type->isIntegerTy()) return ir.CreateBitCast(ir.CreateFPTrunc(sum, ir.getBFloatTy()), type);
  return ir.CreateFPTrunc(sum, type);
}

/// The numbers of some words, in float.
std::vector<Value*> numbers_of(Site& site, const std::vector<Value*>& words, Kind kind, llvm::Type* element) {
  std::vector<Value*> numbers;
  for (Value* word : words) {
    Value* const opened = open(site, word, kind, element);
    for (unsigned i = 0; i < (kind == Kind::sixteen_bits ? 2u : 4u); ++i)
      numbers.push_back(number(site, opened, kind, i));
  }
  return numbers;
}

/// The numbers of operand `index`, of which a lane of GFX12 has half.
std::vector<Value*> own_numbers(Site& site, unsigned index, Kind kind) {
  Value* const operand = site.argument(index);
  llvm::Type* const element = operand->getType()->getScalarType();
  if (kind != Kind::sixteen_bits) return numbers_of(site, words_of(site, operand), kind, element);
  std::vector<Value*> numbers;
  const unsigned count = llvm::cast<llvm::FixedVectorType>(operand->getType())->getNumElements();
  for (unsigned k = 0; k < count; ++k)
    numbers.push_back(small_to_float(site.ir(), site.ir().CreateExtractElement(operand, k)));
  return numbers;
}

/// The own column of B, in float.
std::vector<Value*> column_of(Site& site, Wave& wave, Kind kind) {
  if (!wave.is_gfx12()) return own_numbers(site, 1, kind);
  llvm::Type* const element = site.argument(1)->getType()->getScalarType();
  return numbers_of(site, wave.column(words_of(site, site.argument(1))), kind, element);
}

/// wmma.{f32,f16,bf16}.16x16x16.KIND(A, B, C)
Result<Value*> float_product(Site& site, Kinds kinds) {
  llvm::IRBuilder<>& ir = site.ir();
  if (site.call().arg_size() != 3 || !is_vector(site.argument(2), kOwnRows))
    return site.refuse("only sums of 8 elements per lane are supported");
  SMELT_TRY(const bool gfx12, is_gfx12(site, 0, 1, kRows, kinds.a == Kind::sixteen_bits ? 16 : 8));
  llvm::Type* const sum_type = site.type()->getScalarType();
  Wave wave(site, gfx12);
  const std::vector<Value*> row = own_numbers(site, 0, kinds.a);
  const std::vector<Value*> column = column_of(site, wave, kinds.b);
  Value* result = site.argument(2);
  for (unsigned first = 0; first < kOwnRows; first += kTogether) {
    Value* sums = llvm::PoisonValue::get(llvm::FixedVectorType::get(ir.getFloatTy(), kTogether));
    for (unsigned e = 0; e < kTogether; ++e) {
      Value* const sum = ir.CreateExtractElement(site.argument(2), first + e);
      sums = ir.CreateInsertElement(sums, sum_type->isFloatTy() ? sum : small_to_float(ir, sum), e);
    }
    sums = wave.multiply(row, column, sums, first);
    for (unsigned e = 0; e < kTogether; ++e) {
      Value* const sum = ir.CreateExtractElement(sums, e);
      result = ir.CreateInsertElement(result, sum_type->isFloatTy() ? sum : narrowed(ir, sum, sum_type), first + e);
    }
  }
  return result;
}

template <Kind a, Kind b>
Result<Value*> product(Site& site) {
  return float_product(site, {a, b});
}
constexpr auto kSixteenBits = product<Kind::sixteen_bits, Kind::sixteen_bits>;

/// wmma.i32.16x16xDEPTH.{iu8,iu4}(A signed, A, B signed, B, C, clamp). The sum of 16 products of bytes is below 2^20,
/// so float has it exactly; it multiplies and adds in one operation, which integers need two for, one of them slow. The
/// sum begins with 1.5 * 2^23: numbers from 2^23 to 2^24 are whole and their bits count up with them, so the result is
/// there without a conversion, which processors do lane by lane where numbers may be too large.
Result<Value*> integer_product(Site& site, unsigned bits, unsigned depth) {
  llvm::IRBuilder<>& ir = site.ir();
  const auto a_signed = site.constant(0), b_signed = site.constant(2), clamp = site.constant(5);
  if (!a_signed || !b_signed || !clamp) return site.refuse("the signs and the clamp must be constants");
  if (!is_vector(site.argument(4), kOwnRows) || !site.type()->getScalarType()->isIntegerTy(32))
    return site.refuse("only sums of 8 elements per lane are supported");
  SMELT_TRY(const bool gfx12, is_gfx12(site, 1, 3, depth, bits));
  const unsigned fields = 32 / bits;
  Wave wave(site, gfx12);
  const auto numbers_in = [&](const std::vector<Value*>& words, bool is_signed) {
    std::vector<Value*> numbers;
    for (Value* word : words)
      for (unsigned i = 0; i < fields; ++i)
        numbers.push_back(ir.CreateSIToFP(packed_integer(ir, word, i, bits, is_signed), ir.getFloatTy()));
    return numbers;
  };
  const std::vector<Value*> row = numbers_in(words_of(site, site.argument(1)), *a_signed != 0);
  const std::vector<Value*> column = numbers_in(wave.column(words_of(site, site.argument(3))), *b_signed != 0);
  Value* result = site.argument(4);
  for (unsigned first = 0; first < kOwnRows; first += kTogether) {
    auto* const four = llvm::FixedVectorType::get(ir.getFloatTy(), kTogether);
    Value* products = wave.multiply(row, column, llvm::ConstantFP::get(four, kWholeNumbers), first);
    products = ir.CreateBitCast(products, llvm::FixedVectorType::get(ir.getInt32Ty(), kTogether));
    for (unsigned e = 0; e < kTogether; ++e) {
      Value* const before = ir.CreateExtractElement(site.argument(4), first + e);
      Value* const sum = ir.CreateSub(ir.CreateExtractElement(products, e), ir.getInt32(kWholeBits));
      Value* const both = *clamp ? add_saturating(ir, sum, before, true) : ir.CreateAdd(sum, before);
      result = ir.CreateInsertElement(result, both, first + e);
    }
  }
  return result;
}

constexpr Row kWmmaRows[] = {
    {"wmma.f32.16x16x16.f16", kSixteenBits},
    {"wmma.f32.16x16x16.bf16", kSixteenBits},
    {"wmma.f16.16x16x16.f16", kSixteenBits},
    {"wmma.bf16.16x16x16.bf16", kSixteenBits},
    {"wmma.f32.16x16x16.fp8.fp8", product<Kind::e4m3, Kind::e4m3>},
    {"wmma.f32.16x16x16.fp8.bf8", product<Kind::e4m3, Kind::e5m2>},
    {"wmma.f32.16x16x16.bf8.fp8", product<Kind::e5m2, Kind::e4m3>},
    {"wmma.f32.16x16x16.bf8.bf8", product<Kind::e5m2, Kind::e5m2>},
    {"wmma.i32.16x16x16.iu8", [](Site& site) { return integer_product(site, 8, 16); }},
    {"wmma.i32.16x16x16.iu4", [](Site& site) { return integer_product(site, 4, 16); }},
    {"wmma.i32.16x16x32.iu4", [](Site& site) { return integer_product(site, 4, 32); }},
};

}  // namespace

std::span<const Row> matrix_rows() {
  return kWmmaRows;
}

}  // namespace smelt::aot::input::amdgcn
