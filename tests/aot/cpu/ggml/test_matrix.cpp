// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products: mat-vec (one simdgroup or more to a few rows), small batches, mat-mat by simdgroup_matrix tiles, and
// the same with a matrix chosen by index for each row (mixtures of experts).
#include "call.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace smelt::test {
namespace {

std::string name_of(Type type) {
  return std::string(traits(type).name);
}

uint32_t parts(int64_t whole, int64_t part) {
  return static_cast<uint32_t>((whole + part - 1) / part);
}

/// c[row of a, row of b, ...] = sum over k; a's outer dimensions are repeated over b's.
double product(const Tensor& a, const Tensor& b, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
  double sum = 0;
  for (int64_t k = 0; k < a.ne()[0]; ++k)
    sum += a.at(k, i0, i2 * a.ne()[2] / b.ne()[2], i3 * a.ne()[3] / b.ne()[3]) * b.at(k, i1, i2, i3);
  return sum;
}

Call& describe_product(Call& call, const Tensor& a, const Tensor& b, const Tensor& out) {
  call.describe("0", a).describe("1", b).describe("", out);
  call.set("r2", static_cast<double>(b.ne()[2] / a.ne()[2])).set("r3", static_cast<double>(b.ne()[3] / a.ne()[3]));
  return call.in(1, a).in(2, b).out(3, Tensor(out).poison());
}

struct MatVec {
  Type a;
  Type b;
  const char* suffix;
  int64_t columns;
  uint32_t rows;        ///< of a, for each simdgroup or threadgroup
  uint32_t simdgroups;  ///< of a threadgroup
  bool rows_each;       ///< `rows` counts for each simdgroup
  bool always = false;  ///< not only with SMELT_FULL
};

/// ggml's choice of rows and simdgroups for each format.
const MatVec kMatVecs[] = {
    {Type::f32, Type::f32, "", 131, 2, 2, false},         {Type::f32, Type::f32, "_4", 260, 2, 3, false, true},
    {Type::f32, Type::f32, "_short", 20, 32, 1, false},   {Type::f16, Type::f32, "", 131, 2, 2, false},
    {Type::f16, Type::f32, "_4", 512, 2, 4, false, true}, {Type::f16, Type::f16, "_4", 260, 2, 3, false},
    {Type::f16, Type::f32, "_short", 20, 32, 1, false},   {Type::bf16, Type::f32, "_4", 128, 2, 1, false},
    {Type::bf16, Type::bf16, "", 131, 2, 2, false},       {Type::q4_0, Type::f32, "", 256, 4, 2, true, true},
    {Type::q4_1, Type::f32, "", 256, 4, 2, true},         {Type::q5_0, Type::f32, "", 256, 4, 2, true},
    {Type::q5_1, Type::f32, "", 256, 4, 2, true},         {Type::q8_0, Type::f32, "", 256, 2, 4, false, true},
    {Type::mxfp4, Type::f32, "", 256, 2, 2, true},        {Type::iq4_nl, Type::f32, "", 256, 2, 2, true},
    {Type::q4_K, Type::f32, "", 512, 2, 2, true, true},   {Type::q5_K, Type::f32, "", 512, 2, 2, true},
    {Type::q6_K, Type::f32, "", 512, 2, 2, true},
};

TEST_CASE("mat-vec in every format") {
  if (!have_ggml()) return;
  for (const MatVec& kind : kMatVecs) {
    const std::string name = "kernel_mul_mv_" + name_of(kind.a) + "_" + name_of(kind.b) + kind.suffix;
    if (!wanted(name, kind.always)) continue;
    Tensor a(kind.a, {kind.columns, 19, 2, 1});
    a.fill(81);
    Tensor b(kind.b, {kind.columns, 3, 4, 1});
    b.fill(82);
    const Tensor out(Type::f32, {19, 3, 4, 1});
    Call call(name);
    describe_product(call, a, b, out).set("nr0", kind.rows).threadgroup(0, 32 * 4 * kind.rows);
    if (kind.suffix != std::string("_short")) call.constant("FC_mul_mv_nsg", kind.simdgroups);
    call.groups({parts(19, kind.rows * (kind.rows_each ? kind.simdgroups : 1)), 3, 4}, {32, kind.simdgroups, 1}).run();
    call.expect(3, [&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) { return product(a, b, i0, i1, i2, i3); },
                {1e-4, 2e-4});
  }
}

TEST_CASE("small batches: several vectors at once") {
  if (!have_ggml()) return;
  struct Kind {
    Type a;
    uint32_t vectors;
  };
  for (const Kind& kind : {Kind{Type::f32, 2}, Kind{Type::f16, 3}, Kind{Type::q4_0, 4}, Kind{Type::q8_0, 5},
                           Kind{Type::q4_K, 4}, Kind{Type::q6_K, 4}}) {
    const std::string name = "kernel_mul_mv_ext_" + name_of(kind.a) + "_f32_r1_" + std::to_string(kind.vectors);
    if (!wanted(name, kind.a == Type::q4_0)) continue;
    constexpr uint32_t kSimdgroups = 2;
    const int64_t columns = kind.a == Type::q4_K || kind.a == Type::q6_K ? 512 : 256;
    const uint32_t across = kind.vectors < 3 ? 16 : 8;  // threads along a row
    Tensor a(kind.a, {columns, 21, 1, 1});
    a.fill(83);
    Tensor b(Type::f32, {columns, kind.vectors, 2, 1});
    b.fill(84);
    const Tensor out(Type::f32, {21, kind.vectors, 2, 1});
    Call call(name);
    describe_product(call, a, b, out).constant("FC_mul_mv_nsg", kSimdgroups).constant("FC_mul_mv_nxpsg", across);
    call.groups({parts(21, 32 / across * kSimdgroups), 1, 2}, {32, kSimdgroups, 1}).run();
    call.expect(3, [&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) { return product(a, b, i0, i1, i2, i3); },
                {1e-4, 2e-4});
  }
}

/// Operands are rounded to half when they are put into tiles; a sum of k such products of numbers around 1.
Tolerance of_half_tiles(int64_t columns) {
  return {2e-3, 1.5e-3 * std::sqrt(static_cast<double>(columns))};
}

TEST_CASE("mat-mat by simdgroup_matrix tiles, whole and cut") {
  if (!have_ggml()) return;
  struct Kind {
    Type a;
    Type b;
    int64_t columns;
    int64_t rows;
    int64_t vectors;
  };
  const Kind kinds[] = {{Type::f32, Type::f32, 64, 64, 32},   {Type::f32, Type::f32, 72, 70, 33},
                        {Type::f16, Type::f32, 96, 65, 40},   {Type::f16, Type::f16, 64, 64, 64},
                        {Type::bf16, Type::f32, 64, 33, 9},   {Type::q4_0, Type::f32, 96, 70, 33},
                        {Type::q8_0, Type::f32, 64, 64, 32},  {Type::q5_1, Type::f16, 96, 64, 17},
                        {Type::q4_K, Type::f32, 256, 65, 11}, {Type::q6_K, Type::f32, 256, 20, 32}};
  for (const Kind& kind : kinds) {
    const std::string name = "kernel_mul_mm_" + name_of(kind.a) + "_" + name_of(kind.b);
    if (!wanted(name, kind.a == Type::f16 || kind.a == Type::q4_0)) continue;
    Tensor a(kind.a, {kind.columns, kind.rows, 1, 1});
    a.fill(85);
    Tensor b(kind.b, {kind.columns, kind.vectors, 2, 1});
    b.fill(86);
    const Tensor out(Type::f32, {kind.rows, kind.vectors, 2, 1});
    const bool cut_in = kind.columns % 32 != 0;
    const bool cut_out = kind.rows % 64 != 0 || kind.vectors % 32 != 0;
    Call call(name);
    describe_product(call, a, b, out).constant("FC_mul_mm_bc_inp", cut_in).constant("FC_mul_mm_bc_out", cut_out);
    call.threadgroup(0, cut_out ? 8192 : 6144);
    call.groups({parts(kind.vectors, 32), parts(kind.rows, 64), 2}, {128, 1, 1}).run();
    call.expect(
        3, [&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) { return product(a, b, i0, i1, i2, i3); },
        of_half_tiles(kind.columns));
  }
}

TEST_CASE("products with a matrix chosen by index: mat-vec, and mat-mat after sorting tokens by expert") {
  if (!have_ggml()) return;
  constexpr int64_t kExperts = 4;
  constexpr int64_t kUsed = 2;
  constexpr int64_t kTokens = 37;
  constexpr int64_t kRows = 70;
  constexpr int64_t kColumns = 64;
  Tensor ids(Type::i32, {kUsed, kTokens, 1, 1});
  ids.fill_with(
      [](int64_t used, int64_t token, int64_t, int64_t) { return static_cast<double>((token + 2 * used) % kExperts); });
  for (const Type type : {Type::f16, Type::q4_0}) {
    if (!full() && type != Type::f16) continue;
    Tensor a(type, {kColumns, kRows, kExperts, 1});
    a.fill(87);
    Tensor b(Type::f32, {kColumns, kUsed, kTokens, 1});
    b.fill(88);
    Tensor out(Type::f32, {kRows, kUsed, kTokens, 1});
    const auto want = [&](int64_t i0, int64_t i1, int64_t i2, int64_t) {
      double sum = 0;
      const auto expert = static_cast<int64_t>(ids.at(i1, i2));
      for (int64_t k = 0; k < kColumns; ++k) sum += a.at(k, i0, expert) * b.at(k, i1, i2);
      return sum;
    };

    const bool blocks = traits(type).quantized();
    const uint32_t rows = blocks ? 4 : 2;
    const uint32_t simdgroups = blocks ? 2 : 1;
    Call vec("kernel_mul_mv_id_" + name_of(type) + (blocks ? "_f32" : "_f32_4"));
    vec.describe("0", a).describe("1", b).describe("", out).set("nr0", rows);
    vec.set("nei0", kUsed).set("nei1", kTokens).set("nbi1", kUsed * 4).constant("FC_mul_mv_nsg", simdgroups);
    vec.in(1, a).in(2, b).out(3, out.poison()).in(4, ids).threadgroup(0, 32 * 4 * rows);
    vec.groups({parts(kRows, blocks ? rows * simdgroups : rows), 1, kUsed * kTokens}, {32, simdgroups, 1}).run();
    vec.expect(3, want, {1e-4, 2e-4});

    Tensor counts(Type::i32, {kExperts, 1, 1, 1});
    Tensor sorted(Type::i32, {kTokens, kExperts, 1, 1});
    Call map("kernel_mul_mm_id_map0_ne20_2");
    map.set("ne02", kExperts).set("ne10", kColumns).set("ne11", kUsed).set("nb11", static_cast<double>(b.nb()[1]));
    map.set("nb12", static_cast<double>(b.nb()[2])).set("ne21", kTokens).set("ne20", kUsed).set("nb21", kUsed * 4);
    map.in(1, ids).out(2, counts.poison()).out(3, sorted).threadgroup(0, kExperts * kUsed * 2);
    map.groups({1, 1, 1}, {kExperts, 1, 1}).run();
    map.expect(2,
               [&](int64_t expert, int64_t, int64_t, int64_t) {
                 double count = 0;
                 for (int64_t token = 0; token < kTokens; ++token)
                   for (int64_t used = 0; used < kUsed; ++used)
                     count += ids.at(used, token) == static_cast<double>(expert);
                 return count;
               },
               {0, 0});

    Call mat("kernel_mul_mm_id_" + name_of(type) + "_f32");
    mat.describe("0", a).describe("1", b).describe("", out).set("ne20", kUsed).set("ne21", kTokens);
    mat.set("r2", 1).set("r3", 1).constant("FC_mul_mm_bc_inp", 0).threadgroup(0, 8192);
    mat.in(1, a).in(2, b).in(3, map.result(2)).in(4, map.result(3)).out(5, out.poison());
    mat.groups({parts(kTokens, 32), parts(kRows, 64), kExperts}, {128, 1, 1}).run();
    mat.expect(5, want, of_half_tiles(kColumns));
  }
}

}  // namespace
}  // namespace smelt::test
