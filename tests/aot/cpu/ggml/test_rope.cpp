// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotary position embedding: pairs of elements are turned by position * base^(-2i/n); with YaRN's scaling when asked.
#include "call.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

namespace smelt::test {
namespace {

struct Yarn {
  double base = 10000;
  double scale = 1;   ///< of positions
  double extend = 0;  ///< weight of the extrapolated part
  double magnitude = 1;
  double fast = 32;
  double slow = 1;
  double context = 4096;
};

struct Turn {
  double cosine;
  double sine;
};

/// Number of the dimension that makes `rotations` turns within the context.
double correction_dimension(const Yarn& yarn, int64_t dims, double rotations) {
  return static_cast<double>(dims) * std::log(yarn.context / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(yarn.base));
}

/// Angle of pair `pair` of `dims`/2 at a position. `factor` divides its frequency.
Turn turn_of(const Yarn& yarn, int64_t dims, int64_t pair, double position, double factor) {
  const double extrapolated = position * std::pow(yarn.base, -2.0 * static_cast<double>(pair) / dims) / factor;
  double angle = yarn.scale * extrapolated;
  double magnitude = yarn.magnitude;
  if (yarn.extend != 0) {
    const double low = std::max(0.0, std::floor(correction_dimension(yarn, dims, yarn.fast)));
    const double high = std::min(static_cast<double>(dims - 1), std::ceil(correction_dimension(yarn, dims, yarn.slow)));
    const double ramp = 1 - std::clamp((static_cast<double>(pair) - low) / std::max(0.001, high - low), 0.0, 1.0);
    const double mix = ramp * yarn.extend;
    angle = angle * (1 - mix) + extrapolated * mix;
    magnitude *= 1 + 0.1 * std::log(1 / yarn.scale);
  }
  return {std::cos(angle) * magnitude, std::sin(angle) * magnitude};
}

void set_yarn(Call& call, const Yarn& yarn, int64_t dims, bool factors) {
  call.set("n_past", 0).set("n_dims", static_cast<double>(dims)).set("n_ctx_orig", yarn.context);
  call.set("freq_base", yarn.base).set("freq_scale", yarn.scale).set("ext_factor", yarn.extend);
  call.set("attn_factor", yarn.magnitude).set("beta_fast", yarn.fast).set("beta_slow", yarn.slow);
  for (const char* section : {"sect_0", "sect_1", "sect_2", "sect_3"}) call.set(section, 0);
  call.set("src2", factors);
}

TEST_CASE("rope: neighbours or halves, f32 and f16, with and without frequency factors and YaRN") {
  if (!have_ggml()) return;
  constexpr int64_t kColumns = 80;
  constexpr int64_t kDims = 64;  // the last 16 are passed on
  for (const bool neox : {false, true})
    for (const Type type : {Type::f32, Type::f16})
      for (const bool extended : {false, true}) {
        Yarn yarn;
        if (extended) yarn.scale = 0.25, yarn.extend = 1, yarn.magnitude = 1.1;
        Tensor x(type, {kColumns, 3, 5, 2});
        x.fill(71);
        Tensor positions(Type::i32, {5, 1, 1, 1});
        positions.fill_with([](int64_t i, int64_t, int64_t, int64_t) { return static_cast<double>(7 * i); });
        Tensor factors(Type::f32, {kDims / 2, 1, 1, 1});
        factors.fill_with([](int64_t i, int64_t, int64_t, int64_t) { return 1 + 0.02 * static_cast<double>(i); });
        Call call(std::string("kernel_rope_") + (neox ? "neox_" : "norm_") + std::string(traits(type).name));
        call.describe("0", x).describe("", x);
        set_yarn(call, yarn, kDims, extended);
        call.in(1, x).in(2, positions).in(3, factors).out(4, Tensor(x).poison());
        call.groups({3, 5, 2}, {static_cast<uint32_t>(kColumns), 1, 1}).run();
        const double tolerance = type == Type::f16 ? 1e-3 : 1e-4;
        call.expect(4,
                    [&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
                      if (i0 >= kDims) return x.at(i0, i1, i2, i3);
                      const int64_t pair = neox ? i0 % (kDims / 2) : i0 / 2;
                      const bool second = neox ? i0 >= kDims / 2 : i0 % 2 == 1;
                      const double a = x.at(neox ? pair : 2 * pair, i1, i2, i3);
                      const double b = x.at(neox ? pair + kDims / 2 : 2 * pair + 1, i1, i2, i3);
                      const Turn turn = turn_of(yarn, kDims, pair, positions.at(i2), extended ? factors.at(pair) : 1);
                      return second ? a * turn.sine + b * turn.cosine : a * turn.cosine - b * turn.sine;
                    },
                    {tolerance, tolerance});
      }
}

}  // namespace
}  // namespace smelt::test
