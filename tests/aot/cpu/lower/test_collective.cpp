// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lanes do together: names, neutral elements, sources of shuffles (by their definition, lane by lane), matrices.
#include "jit.hpp"
#include "lower/collectives.hpp"
#include "runtime/runtime.hpp"
#include "ulp.hpp"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <doctest/doctest.h>

using namespace smelt::aot::cpu;
using Kind = CollectiveKind;

namespace {

/// Source lane and whether it is of `fill`, with everything constant.
std::pair<unsigned, bool> source(const char* name, unsigned lane, unsigned amount, unsigned modulo = 32) {
  llvm::LLVMContext context;
  llvm::IRBuilder<> builder(context);
  const auto collective = parse_collective(name);
  REQUIRE(collective.has_value());
  const SourceLane result =
      emit_source_lane(builder, *collective, builder.getInt32(lane), builder.getInt16(static_cast<uint16_t>(amount)),
                       builder.getInt16(static_cast<uint16_t>(modulo)));
  const auto number = [](llvm::Value* value) { return llvm::cast<llvm::ConstantInt>(value)->getZExtValue(); };
  return {static_cast<unsigned>(number(result.index)), result.from_fill && number(result.from_fill) == 1};
}

Kind kind_of(const char* name) {
  const auto collective = parse_collective(name);
  REQUIRE_MESSAGE(collective.has_value(), std::string(name));
  return collective->kind;
}

}  // namespace

TEST_CASE("names of collectives") {
  CHECK(kind_of("air.simd_sum.f32") == Kind::sum);
  CHECK(kind_of("air.wg.barrier") == Kind::threadgroup_barrier);
  CHECK(kind_of("air.simdgroup.barrier") == Kind::simdgroup_barrier);
  CHECK(kind_of("air.simd_ballot.i64") == Kind::ballot);
  CHECK(kind_of("air.simd_is_first") == Kind::is_first);
  CHECK(kind_of("air.simd_active_threads_mask.i64") == Kind::active_threads_mask);
  CHECK(kind_of("air.simd_prefix_exclusive_sum.u.i32") == Kind::prefix_exclusive_sum);
  CHECK(kind_of("air.simd_shuffle_and_fill_up.f32") == Kind::fill_up);
  CHECK(kind_of("air.simd_shuffle_rotate_down.s.i16") == Kind::rotate_down);
  CHECK(kind_of("air.wait_simdgroup_events") == Kind::async_wait);
  CHECK(kind_of("air.simdgroup_matrix_8x8_load.v64f16.p3f16") == Kind::matrix_load);
  const auto quad = parse_collective("air.quad_max.s.v2i16");
  REQUIRE(quad);
  CHECK(quad->group_width == 4);
  CHECK(quad->components == 2);
  CHECK(quad->element == Element{ElementKind::signed_integer, 16});
  const auto lane = parse_collective("air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f16.v64bf16.v64f32.lane");
  REQUIRE(lane);
  CHECK(lane->element.kind == ElementKind::single);
  CHECK(lane->operands[0].kind == ElementKind::half);
  CHECK(lane->operands[1].kind == ElementKind::bfloat);
  CHECK(lane->operands[2].kind == ElementKind::single);
  for (const char* name :
       {"air.simd_sum", "air.simd_and.f32", "air.simd_sum.v9f32", "air.simd_frobnicate.f32", "air.exp.f32", "air.",
        "simd_sum.f32", "air.simdgroup_matrix_8x8_load.v64i8.p3i8", "air.simd_vote_all.i64"})
    CHECK_FALSE(parse_collective(name).has_value());
}

TEST_CASE("sources of shuffles") {
  // docs/formats/metal-language.md 7, case 29
  CHECK(source("air.simd_shuffle_down.u.i32", 30, 2) == std::pair(30u, false));
  CHECK(source("air.simd_shuffle_down.u.i32", 29, 2) == std::pair(31u, false));
  CHECK(source("air.simd_shuffle_up.f32", 1, 2) == std::pair(1u, false));
  CHECK(source("air.simd_shuffle_up.f32", 2, 2) == std::pair(0u, false));
  CHECK(source("air.simd_shuffle_and_fill_up.f32", 0, 2) == std::pair(30u, true));
  CHECK(source("air.simd_shuffle_and_fill_up.f32", 8, 2, 8) == std::pair(14u, true));
  CHECK(source("air.simd_shuffle_and_fill_up.f32", 10, 2, 8) == std::pair(8u, false));
  CHECK(source("air.simd_shuffle_and_fill_down.f32", 31, 2) == std::pair(1u, true));
  CHECK(source("air.simd_shuffle_and_fill_down.f32", 29, 2) == std::pair(31u, false));
  CHECK(source("air.simd_shuffle_and_fill_down.f32", 14, 3, 8) == std::pair(9u, true));
  CHECK(source("air.simd_shuffle_xor.f32", 5, 16) == std::pair(21u, false));
  CHECK(source("air.simd_shuffle_rotate_up.f32", 1, 3) == std::pair(30u, false));
  CHECK(source("air.simd_shuffle_rotate_down.f32", 30, 3) == std::pair(1u, false));
  CHECK(source("air.simd_broadcast.f32", 30, 3) == std::pair(3u, false));
  CHECK(source("air.simd_shuffle.f32", 30, 7) == std::pair(7u, false));
  // Quads are four consecutive lanes.
  CHECK(source("air.quad_shuffle_xor.f32", 9, 3) == std::pair(10u, false));
  CHECK(source("air.quad_shuffle_down.f32", 10, 2) == std::pair(10u, false));
  CHECK(source("air.quad_shuffle_up.f32", 10, 1) == std::pair(9u, false));
  CHECK(source("air.quad_broadcast.f32", 13, 1) == std::pair(13u, false));
  CHECK(source("air.quad_shuffle_rotate_up.f32", 4, 1) == std::pair(7u, false));
  CHECK(source("air.quad_shuffle_and_fill_up.f32", 5, 2, 4) == std::pair(7u, true));
}

TEST_CASE("neutral elements change nothing") {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                                          llvm::GlobalValue::ExternalLinkage, "f", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  const std::vector<const char*> names = {
      "sum", "product", "min", "max", "prefix_exclusive_sum", "prefix_inclusive_product"};
  const std::vector<const char*> bitwise = {"and", "or", "xor", "min", "max", "sum", "product"};
  const auto check = [&](const std::string& name, llvm::Constant* value) {
    const auto collective = parse_collective(name);
    REQUIRE(collective);
    llvm::Value* wide = emit_widen(builder, *collective, value);
    llvm::Value* combined = emit_combine(builder, *collective, wide, identity(*collective, wide->getType()));
    if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(combined))
      combined = llvm::ConstantFoldInstruction(instruction, module.getDataLayout());
    REQUIRE(combined);
    CHECK_MESSAGE(emit_narrow(builder, *collective, combined) == value, name);
  };
  for (const char* name : names) {
    check(std::string("air.simd_") + name + ".f32", llvm::ConstantFP::get(builder.getFloatTy(), -3.25));
    check(std::string("air.quad_") + name + ".f16", llvm::ConstantFP::get(builder.getHalfTy(), 3.5));
  }
  for (const char* name : bitwise) {
    check(std::string("air.simd_") + name + ".s.i16",
          llvm::ConstantInt::get(builder.getInt16Ty(), static_cast<uint64_t>(-77), true));
    check(std::string("air.simd_") + name + ".u.i32", llvm::ConstantInt::get(builder.getInt32Ty(), 0x80000001));
    check(std::string("air.simd_") + name + ".i8", llvm::ConstantInt::get(builder.getInt8Ty(), 200));
  }
}

TEST_CASE("lanes hold the elements that MLX and PyTorch expect") {
  CHECK(matrix_element(0, 0) == 0);
  CHECK(matrix_element(0, 1) == 1);
  CHECK(matrix_element(1, 0) == 2);
  CHECK(matrix_element(2, 0) == 8);
  CHECK(matrix_element(7, 1) == 27);
  CHECK(matrix_element(8, 0) == 4);
  CHECK(matrix_element(16, 0) == 32);
  CHECK(matrix_element(31, 1) == 63);
  std::array<int, 64> seen{};
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned slot = 0; slot < 2; ++slot) ++seen[matrix_element(lane, slot)];
  for (const int count : seen) CHECK(count == 1);
}

namespace {

/// void f(ptr a, ptr b, ptr c, ptr out, i1 transpose): matrix operations through the emitters, as text for the JIT.
std::string matrix_module(bool strides) {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  llvm::IRBuilder<> b(context);
  llvm::Type* pointer = b.getPtrTy();
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, pointer, pointer, b.getInt1Ty()}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "f", module);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  const auto half_load = *parse_collective("air.simdgroup_matrix_8x8_load.v64f16.p1f16");
  const auto float_load = *parse_collective("air.simdgroup_matrix_8x8_load.v64f32.p1f32");
  const auto store = *parse_collective("air.simdgroup_matrix_8x8_store.v64f32.p1f32");
  const auto multiply = *parse_collective("air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f16.v64f32.v64f32");
  auto* pair = llvm::FixedVectorType::get(b.getInt64Ty(), 2);
  const auto two = [&](llvm::Value* x, llvm::Value* y) {
    llvm::Value* v = b.CreateInsertElement(llvm::PoisonValue::get(pair), x, uint64_t{0});
    return b.CreateInsertElement(v, y, uint64_t{1});
  };
  // a is 8 wide of halves, transposed or not; b lies at (column 3, row 2) of a 16-wide array; c is 8 wide.
  llvm::Value *eight = b.getInt64(8), *one = b.getInt64(1), *sixteen = b.getInt64(16), *zero = b.getInt64(0);
  llvm::Value* transpose = function->getArg(4);
  llvm::Value *left = nullptr, *right = nullptr;
  if (strides) {
    llvm::Value* steps = b.CreateSelect(transpose, two(eight, one), two(one, eight));
    left = emit_matrix_load(b, half_load, {function->getArg(0), two(eight, eight), steps, two(zero, zero)});
    right = emit_matrix_load(
        b, float_load,
        {function->getArg(1), two(sixteen, eight), two(one, sixteen), two(b.getInt64(3), b.getInt64(2))});
  } else {
    left = emit_matrix_load(b, half_load, {function->getArg(0), eight, two(zero, zero), transpose});
    right = emit_matrix_load(b, float_load,
                             {function->getArg(1), sixteen, two(b.getInt64(3), b.getInt64(2)), b.getFalse()});
  }
  llvm::Value* addend = emit_matrix_load(b, float_load, {function->getArg(2), eight, two(zero, zero), b.getFalse()});
  // Through the lanes and back: slot 1 doubled in every lane.
  llvm::Value* slot0 = emit_matrix_slot(b, addend, 0);
  llvm::Value* slot1 = emit_matrix_slot(b, addend, 1);
  addend = emit_matrix_with_slot(b, emit_matrix_from_slots(b, slot0, slot1), 1, b.CreateFAdd(slot1, slot1));
  llvm::Value* result = emit_matrix_multiply_accumulate(b, multiply, left, right, addend);
  result = b.CreateFAdd(result, emit_matrix_diagonal(b, llvm::ConstantFP::get(b.getFloatTy(), 100)));
  result = b.CreateFAdd(result, emit_matrix_filled(b, llvm::ConstantFP::get(b.getFloatTy(), 1000)));
  emit_matrix_store(b, store, {result, function->getArg(3), eight, two(zero, zero), b.getTrue()});
  b.CreateRetVoid();
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

}  // namespace

TEST_CASE("matrices, in both forms of the operands") {
  for (const bool strides : {false, true}) {
    const smelt::test::Jit jit(matrix_module(strides));
    std::vector<uint16_t> a(64);
    std::vector<float> b(16 * 16), c(64), out(64);
    for (int i = 0; i < 64; ++i) a[i] = smelt::test::half_from(i % 13 - 6), c[i] = static_cast<float>(i);
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 17) - 8;
    for (const bool transpose : {false, true}) {
      jit.function<void(void*, void*, void*, void*, bool)>("f")(a.data(), b.data(), c.data(), out.data(), transpose);
      int wrong = 0;
      for (int row = 0; row < 8; ++row)
        for (int column = 0; column < 8; ++column) {
          float want = c[row * 8 + column] * (column % 2 ? 2 : 1) + (row == column ? 100 : 0) + 1000;
          for (int k = 0; k < 8; ++k)
            want +=
                smelt::test::half_to_float(transpose ? a[k * 8 + row] : a[row * 8 + k]) * b[(k + 2) * 16 + column + 3];
          wrong += out[column * 8 + row] != want;  // stored transposed
        }
      CHECK_MESSAGE(wrong == 0, strides << transpose);
    }
  }
}

TEST_CASE("asynchronous copies") {
  llvm::LLVMContext context;
  llvm::Module module("m", context);
  llvm::IRBuilder<> b(context);
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(3), b.getPtrTy(1)}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "f", module);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  const auto two = [&](uint64_t x, uint64_t y) { return llvm::ConstantVector::get({b.getInt64(x), b.getInt64(y)}); };
  // 4-byte elements; a 3 x 2 tile of a 5-wide source into a 4 x 3 tile of a 6-wide target; outside becomes zero.
  emit_async_copy(b, *parse_collective("air.simdgroup_async_copy_2d.p3i8.p1i8"),
                  {b.getInt64(4), b.getInt64(4), function->getArg(0), b.getInt64(6), b.getInt64(1), two(4, 3),
                   function->getArg(1), b.getInt64(5), b.getInt64(1), two(3, 2), two(0, 0), b.getInt32(0)});
  b.CreateRetVoid();
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  const smelt::test::Jit jit(text);
  std::vector<int> from(10), to(18, -1);
  for (int i = 0; i < 10; ++i) from[i] = i + 1;
  jit.function<void(int*, const int*)>("f")(to.data(), from.data());
  CHECK(to == std::vector<int>{1, 2, 3, 0, -1, -1, 6, 7, 8, 0, -1, -1, 0, 0, 0, 0, -1, -1});
}
