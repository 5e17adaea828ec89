// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unary and binary math of AIR with references and Metal's bounds (docs/formats/metal-language.md 4.1).
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace smelt::test {

using Unary = long double (*)(long double);
using Binary = long double (*)(long double, long double);

struct UnaryCase {
  const char* operation;  ///< after "air.", before ".f32"
  Unary reference;
  double ulps;                             ///< bound; 0: exact
  float low = -INFINITY, high = INFINITY;  ///< where the bound holds
  double absolute = 0;                     ///< when not 0, an absolute bound that is enough
};

namespace reference {
inline long double sinpi(long double x) {
  if (std::isinf(x)) return NAN;
  const long double y = x - 2 * std::rint(x / 2), a = std::fabs(y);
  if (a == std::rint(a)) return std::copysign(0.0L, x);
  if (a <= 0.25L) return std::sin(y * M_PIl);
  if (a <= 0.75L) return std::copysign(std::cos((a - 0.5L) * M_PIl), y);
  return std::copysign(std::sin((1 - a) * M_PIl), y);
}
inline long double cospi(long double x) {
  if (std::isinf(x)) return NAN;
  const long double a = std::fabs(x - 2 * std::rint(x / 2));
  if (a <= 0.25L) return std::cos(a * M_PIl);
  if (a <= 0.75L) return a == 0.5L ? 0 : std::sin((0.5L - a) * M_PIl);
  return -std::cos((1 - a) * M_PIl);
}
inline long double tanpi(long double x) {
  return sinpi(x) / cospi(x);
}
inline long double rsqrt(long double x) {
  return 1 / std::sqrt(x);
}
inline long double exp10(long double x) {
  return ::exp10l(x);
}
inline long double fract(long double x) {
  return x - std::floor(x);
}
inline long double saturate(long double x) {
  return x > 0 ? (x < 1 ? x : 1) : 0;
}
inline long double sign(long double x) {
  return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? x : 0;
}
}  // namespace reference

inline const std::vector<UnaryCase>& unary_cases() {
  constexpr float kPi = 0x1.921fb6p+1f, kMinimum = 0x1p-126f;
  static const std::vector<UnaryCase> cases = {
      {"acos", std::acos, 4},
      {"acosh", std::acosh, 4},
      {"asin", std::asin, 4},
      {"asinh", std::asinh, 4},
      {"atan", std::atan, 5},
      {"atanh", std::atanh, 5},
      {"ceil", std::ceil, 0},
      {"cos", std::cos, 4},
      {"cosh", std::cosh, 4},
      {"cospi", reference::cospi, 4},
      {"exp", std::exp, 4},
      {"exp10", reference::exp10, 4},
      {"exp2", std::exp2, 4},
      {"fabs", std::fabs, 0},
      {"floor", std::floor, 0},
      {"fract", reference::fract, 1, -1e6f, 1e6f},
      {"log", std::log, 4},
      {"log10", std::log10, 4},
      {"log2", std::log2, 4},
      {"rint", std::rint, 0},
      {"round", std::round, 0},
      {"rsqrt", reference::rsqrt, 0.51},
      {"saturate", reference::saturate, 0},
      {"sign", reference::sign, 0},
      {"sin", std::sin, 4},
      {"sinh", std::sinh, 4},
      {"sinpi", reference::sinpi, 4},
      {"sqrt", std::sqrt, 0.5},
      {"tan", std::tan, 6},
      {"tanh", std::tanh, 5},
      {"tanpi", reference::tanpi, 6},
      {"trunc", std::trunc, 0},
      // fast: as loose as the table allows, over the domain that it names
      {"fast_acos", std::acos, 5, -1, 1},
      {"fast_asin", std::asin, 5, -1, 1},
      {"fast_atan", std::atan, 5},
      {"fast_cos", std::cos, 0, -kPi, kPi, 0x1p-13},
      {"fast_exp", std::exp, 5, -1, 1},
      {"fast_exp", std::exp, 180, -87.3f, 88.7f},
      {"fast_exp2", std::exp2, 5, -1, 1},
      {"fast_exp2", std::exp2, 255, -126, 128},
      {"fast_log", std::log, 3, kMinimum, 0.49f},
      {"fast_log", std::log, 0, 0.5f, 2, 0x1p-21},
      {"fast_log", std::log, 3, 2.01f, INFINITY},
      {"fast_log2", std::log2, 2, kMinimum, 0.49f},
      {"fast_log2", std::log2, 0, 0.5f, 2, 0x1p-22},
      {"fast_log2", std::log2, 2, 2.01f, INFINITY},
      {"fast_log10", std::log10, 0, 0.5f, 2, 0x1p-22},
      {"fast_log10", std::log10, 3, 2.01f, INFINITY},
      {"fast_rsqrt", reference::rsqrt, 2, kMinimum, INFINITY},
      {"fast_sin", std::sin, 0, -kPi, kPi, 0x1p-13},
      {"fast_sqrt", std::sqrt, 0.5, kMinimum, INFINITY},
      {"fast_tan", std::tan, 6, -kPi, kPi},
      {"fast_tanh", std::tanh, 5},
      {"fast_fract", reference::fract, 1, -1e6f, 1e6f},
  };
  return cases;
}

}  // namespace smelt::test
