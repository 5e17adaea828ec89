// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that move and convert: cpy, get_rows, set_rows, concat.
#include "call.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace smelt::test {
namespace {

std::string name_of(Type type) {
  return std::string(traits(type).name);
}

/// What a value becomes when it is stored as `type`.
double rounded(Type type, double value) {
  switch (type) {
    case Type::f16:
      return half_to(half_from(value));
    case Type::bf16:
      return bfloat_to(bfloat_from(static_cast<float>(value)));
    case Type::i32:
      return std::trunc(value);
    default:
      return static_cast<float>(value);
  }
}

/// How far a value of a block may lie from the original: the step between quants, which depends on the block's range.
/// The scale and the minimum are themselves rounded to half.
double step_of(Type type, const Tensor& x, int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
  double low = 0;
  double high = 0;
  double signed_extreme = 0;
  const int64_t first = i0 / 32 * 32;
  for (int64_t i = first; i < first + 32; ++i) {
    const double v = x.at(i, i1, i2, i3);
    low = i == first ? v : std::min(low, v);
    high = i == first ? v : std::max(high, v);
    if (std::fabs(v) > std::fabs(signed_extreme)) signed_extreme = v;
  }
  const double largest = std::fabs(signed_extreme);
  const double halves = largest * 1.5e-3;
  const double steps = x.at(i0, i1, i2, i3) * signed_extreme < 0 ? 1.05 : 0.5;  // the far end is cut
  switch (type) {
    case Type::q8_0:
      return halves + largest / 127 * 0.5;
    case Type::q4_0:
      return halves + largest / 8 * steps;
    case Type::q5_0:
      return halves + largest / 16 * steps;
    case Type::q4_1:
      return halves + (high - low) / 15 * 0.5;
    case Type::q5_1:
      return halves + (high - low) / 31 * 0.5;
    default:
      return largest * 0.12;  // iq4_nl: the widest gap between its values is 24 of 127, plus the scale's choice
  }
}

void describe_copy(Call& call, const Tensor& from, const Tensor& to, int64_t items) {
  call.describe("0", from).describe("", to).set("nk0", static_cast<double>(items));
}

TEST_CASE("copies between element types, rows with gaps, several to a threadgroup") {
  if (!have_ggml()) return;
  struct Pair {
    Type from;
    Type to;
  };
  const Pair pairs[] = {{Type::f32, Type::f32}, {Type::f32, Type::f16},  {Type::f32, Type::bf16},
                        {Type::f32, Type::i32}, {Type::i32, Type::f32},  {Type::f16, Type::f32},
                        {Type::f16, Type::f16}, {Type::bf16, Type::f32}, {Type::bf16, Type::bf16}};
  for (const auto& [from, to] : pairs) {
    Tensor x(from, {100, 6, 3, 2}, 8);
    x.fill(61, 300);
    Tensor out(to, {100, 6, 3, 2});
    Call call("kernel_cpy_" + name_of(from) + "_" + name_of(to));
    describe_copy(call, x, out, 100);
    call.in(1, x).out(2, out.poison()).groups({3, 3, 2}, {100, 2, 1});
    call.run().expect(
        2,
        [&, type = to](int64_t i0, int64_t i1, int64_t i2, int64_t i3) { return rounded(type, x.at(i0, i1, i2, i3)); },
        {0, 0});
  }
}

TEST_CASE("copies to block formats: no further from the original than a step") {
  if (!have_ggml()) return;
  for (const Type to : {Type::q8_0, Type::q4_0, Type::q4_1, Type::q5_0, Type::q5_1, Type::iq4_nl}) {
    Tensor x(Type::f32, {256, 4, 2, 1});
    x.fill(62, 3);
    Tensor out(to, {256, 4, 2, 1});
    Call call("kernel_cpy_f32_" + name_of(to));
    describe_copy(call, x, out, 256 / 32);
    call.in(1, x).out(2, out.poison()).groups({4, 2, 1}, {8, 1, 1}).run();
    const Tensor& got = call.result(2);
    call.expect(2,
                [&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
                  // The reference is the set of values within a step: the nearest of them to what was found.
                  const double value = x.at(i0, i1, i2, i3);
                  const double allowed = step_of(to, x, i0, i1, i2, i3);
                  return std::clamp(got.at(i0, i1, i2, i3), value - allowed, value + allowed);
                },
                {0, 1e-9});
  }
}

TEST_CASE("copies from block formats") {
  if (!have_ggml()) return;
  for (const Type to : {Type::f32, Type::f16})
    for (const Type from : {Type::q4_0, Type::q4_1, Type::q5_0, Type::q5_1, Type::q8_0}) {
      if (!full() && from != Type::q8_0 && from != Type::q4_1) continue;
      Tensor x(from, {128, 5, 2, 1});
      x.fill(63, 4);
      Tensor out(to, {128, 5, 2, 1});
      Call call("kernel_cpy_" + name_of(from) + "_" + name_of(to));
      describe_copy(call, x, out, 128 / 16);
      call.in(1, x).out(2, out.poison()).groups({5, 2, 1}, {8, 1, 1});
      call.run().expect(2, [&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) { return x.at(i0, i1, i2, i3); },
                        {to == Type::f16 ? 2e-3 : 1e-6, to == Type::f16 ? 2e-3 : 1e-6});
    }
}

TEST_CASE("get_rows: rows of every format by index") {
  if (!have_ggml()) return;
  for (const Type type : {Type::f32, Type::f16, Type::bf16, Type::i32, Type::q4_0, Type::q4_1, Type::q5_0, Type::q5_1,
                          Type::q8_0, Type::mxfp4, Type::iq4_nl, Type::q4_K, Type::q5_K, Type::q6_K}) {
    const bool blocks = traits(type).quantized();
    if (!full() && (type == Type::q5_0 || type == Type::q5_1 || type == Type::q4_1 || type == Type::q5_K)) continue;
    const int64_t columns = blocks ? 512 : 83;
    Tensor x(type, {columns, 9, 2, 1});
    x.fill(64, type == Type::i32 ? 1000 : 2);
    Tensor ids(Type::i32, {5, 2, 1, 1});
    ids.fill_with([](int64_t i0, int64_t i1, int64_t, int64_t) { return static_cast<double>((4 * i0 + 7 * i1) % 9); });
    Tensor out(type == Type::i32 ? Type::i32 : Type::f32, {columns, 5, 2, 1});
    const int64_t items = blocks ? columns / 16 : columns;
    Call call("kernel_get_rows_" + name_of(type));
    call.describe("0", x).describe("1", ids).describe("", out).set("ne00t", static_cast<double>(items));
    const auto threads = static_cast<uint32_t>(blocks ? items / 2 : items);
    call.in(1, x).in(2, ids).out(3, out.poison()).groups({(blocks ? 2u : 1u) * 5, 2, 1}, {threads, 1, 1});
    call.run().expect(
        3,
        [&](int64_t i0, int64_t i1, int64_t i2, int64_t) { return x.at(i0, static_cast<int64_t>(ids.at(i1, i2)), i2); },
        {2e-6, 2e-6});
  }
}

TEST_CASE("set_rows: rows written by index, the others left alone") {
  if (!have_ggml()) return;
  for (const Type index : {Type::i64, Type::i32})
    for (const Type type : {Type::f32, Type::f16, Type::bf16, Type::q8_0, Type::q4_0}) {
      const bool blocks = traits(type).quantized();
      const int64_t columns = 96;
      Tensor x(Type::f32, {columns, 4, 2, 1});
      x.fill(65, 2);
      Tensor ids(index, {4, 1, 1, 1});
      ids.fill_with([](int64_t i0, int64_t, int64_t, int64_t) { return static_cast<double>((3 * i0 + 1) % 10); });
      Tensor out(type, {columns, 10, 2, 1});
      out.fill(66, 1);
      const Tensor before = out;
      const int64_t items = columns / static_cast<int64_t>(traits(type).block);
      Call call("kernel_set_rows_" + name_of(type) + "_" + name_of(index));
      call.describe("1", ids).describe("", out).set("nk0", static_cast<double>(items)).set("ne01", 4);
      for (const std::string d : {"1", "2", "3"}) call.set("nb0" + d, static_cast<double>(x.nb()[d[0] - '0']));
      call.in(1, x).in(2, ids).out(3, out);
      call.groups({2, 2, 1}, {static_cast<uint32_t>(items), 2, 1}).run();
      const Tensor& got = call.result(3);
      call.expect(3,
                  [&](int64_t i0, int64_t i1, int64_t i2, int64_t) {
                    for (int64_t source = 0; source < 4; ++source) {
                      if (static_cast<int64_t>(ids.at(source)) != i1) continue;
                      const double value = x.at(i0, source, i2);
                      if (!blocks) return rounded(type, value);
                      const double allowed = step_of(type, x, i0, source, i2, 0);
                      return std::clamp(got.at(i0, i1, i2), value - allowed, value + allowed);
                    }
                    return before.at(i0, i1, i2);
                  },
                  {0, 1e-9});
    }
}

TEST_CASE("concat along each dimension") {
  if (!have_ggml()) return;
  for (const size_t dimension : {0u, 1u, 2u, 3u}) {
    Extents second{6, 4, 3, 2};
    second[dimension] += 2;
    Tensor a(Type::f32, {6, 4, 3, 2});
    Tensor b(Type::f32, second);
    a.fill(67);
    b.fill(68);
    Extents whole = second;
    whole[dimension] += a.ne()[dimension];
    Tensor out(Type::f32, whole);
    Call call("kernel_concat");
    call.describe("0", a).describe("1", b).describe("", out).set("dim", static_cast<double>(dimension));
    call.in(1, a).in(2, b).out(3, out.poison());
    call.groups({static_cast<uint32_t>(whole[1]), static_cast<uint32_t>(whole[2]), static_cast<uint32_t>(whole[3])},
                {static_cast<uint32_t>(whole[0]), 1, 1});
    call.run().expect(3,
                      [&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
                        Extents at{i0, i1, i2, i3};
                        const bool first = at[dimension] < a.ne()[dimension];
                        if (!first) at[dimension] -= a.ne()[dimension];
                        return (first ? a : b).at(at[0], at[1], at[2], at[3]);
                      },
                      {0, 0});
  }
}

}  // namespace
}  // namespace smelt::test
