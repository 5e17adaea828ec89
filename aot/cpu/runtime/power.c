/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// pow and powr. The exponent of the result, y * log2|x|, needs 8 bits more than a float holds: the precise forms take
// them from double, the fast forms from keeping the integer part of log2|x| apart.
// Special values are C99's, as Metal devices give them for the fast forms too (docs/formats/metal-language.md 3.4).
#include "rt.h"

/// 2^(n + r) for |r| <= 1/2, |n| <= 252.
RT_INLINE float exp2_parts(float r, i32 n) {
  float p = 0x1.417a70p-13f;
  p = FMA(p, r, 0x1.5f0948p-10f);
  p = FMA(p, r, 0x1.3b2dd2p-7f);
  p = FMA(p, r, 0x1.c6af7ap-5f);
  p = FMA(p, r, 0x1.ebfbdcp-3f);
  p = FMA(p, r, 0x1.62e430p-1f);
  p = FMA(p, r, 1.0f);
  return scale(p, n);
}

/// a^y for 0 < a < inf; y may be anything.
RT_INLINE float power_wide(float a, float y) {
  // Past 2^31 every a but 1 is out of range, and finite y keeps y * 0 a number.
  y = y < -0x1p31f ? -0x1p31f : y;
  y = y > 0x1p31f ? 0x1p31f : y;
  double z = (double)y * log2_wide((double)a);
  z = z < -200.0 ? -200.0 : z;
  z = z > 200.0 ? 200.0 : z;
  const double t = z + MAGIC_D;
  return exp2_parts((float)(z - (t - MAGIC_D)), (i32)(u32)bits_d(t));
}
RT_INLINE float power_narrow(float a, float y) {
  y = y < -0x1p31f ? -0x1p31f : y;
  y = y > 0x1p31f ? 0x1p31f : y;
  const LogParts v = log_parts(a);
  const float l = v.f + log1p_tail(v.f);
  const float fraction = l * 0x1.715476p+0f;
  float z = FMA(y, v.e, y * fraction);
  const int inside = magnitude(z) < 200.0f;
  z = z < -200.0f ? -200.0f : z;
  z = z > 200.0f ? 200.0f : z;
  const Rounded n = rint_magic(z, 1.0f);
  const float r = FMA(y, fraction, FMA(y, v.e, -n.whole));
  return exp2_parts(inside ? r : z - n.whole, n.integer);
}

RT_INLINE float pow_special(float x, float y, float r) {
  const float a = magnitude(x), b = magnitude(y);
  r = a == 0.0f ? (y > 0.0f ? 0.0f : INF) : r;
  r = a == INF ? (y > 0.0f ? INF : 0.0f) : r;
  const int whole = __builtin_rintf(y) == y;
  // Odd: whole, and y/2 is not. From 2^24 on every float is even.
  const float half = y * 0.5f;
  const int odd = whole & (b < 0x1p24f) & (__builtin_rintf(half) != half);
  r = bits(x) >> 31 & odd ? -r : r;
  r = ((x < 0.0f) & (a < INF) & !whole) ? QUIET_NAN : r;
  r = ((x != x) | (y != y)) ? x + y : r;
  return ((x == 1.0f) | (y == 0.0f)) ? 1.0f : r;
}
/// A stand-in for x where pow_special gives the result.
RT_INLINE float pow_base(float x) {
  const float a = magnitude(x);
  return ((a > 0.0f) & (a < INF)) ? a : 1.0f;
}

float smelt_rt_pow(float x, float y) {
  return pow_special(x, y, power_wide(pow_base(x), y));
}
float smelt_rt_fast_pow(float x, float y) {
  return pow_special(x, y, power_narrow(pow_base(x), y));
}

// powr is exp2(y * log2(x)) with the NaNs of that formula: 0^0, inf^0, 1^inf, and every x < 0.
RT_INLINE float powr_special(float x, float y, float r) {
  // What 0 and inf give: y decides between 0 and inf.
  const int large = (x == 0.0f) == (y < 0.0f);
  const float edge = large ? INF : 0.0f;
  const float edge_or_nan = y == 0.0f ? QUIET_NAN : edge;
  r = ((x == 0.0f) | (x == INF)) ? edge_or_nan : r;
  r = ((x == 1.0f) & (magnitude(y) == INF)) ? QUIET_NAN : r;
  r = x < 0.0f ? QUIET_NAN : r;
  return ((x != x) | (y != y)) ? x + y : r;
}
float smelt_rt_powr(float x, float y) {
  return powr_special(x, y, power_wide(pow_base(x), y));
}
float smelt_rt_fast_powr(float x, float y) {
  return powr_special(x, y, power_narrow(pow_base(x), y));
}
