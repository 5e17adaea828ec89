/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// sin, cos, tan and their pi forms. The argument is reduced to [-pi/4, pi/4] and a quadrant: up to 2^17 by three fused
// subtractions of n * pi/2, above by multiplying with the bits of 2/pi that matter (Payne and Hanek), in integer
// arithmetic and without a table in memory. The fast forms leave the second way out: past 2^17 they are in [-1, 1].
#include "rt.h"

#define TWO_OVER_PI 0x1.45f306p-1f
#define PIO2_1 0x1.921fb6p+0f
#define PIO2_2 -0x1.777a5cp-25f
#define PIO2_3 -0x1.ee59dap-50f
#define LIMIT 0x1p17f

// The reductions give the angle and, by pointer, the quadrant. (A struct of both would be one 64-bit integer by the
// calling convention, and stay one where branches meet.)

RT_INLINE float sin_poly(float r, float z) {
  float p = -0x1.995408p-13f;
  p = FMA(p, z, 0x1.110778p-7f);
  p = FMA(p, z, -0x1.555546p-3f);
  return FMA(r * z, p, r);
}
RT_INLINE float cos_poly(float z) {
  float p = 0x1.99e914p-16f;
  p = FMA(p, z, -0x1.6c0c2ap-10f);
  p = FMA(p, z, 0x1.55554ap-5f);
  return FMA(z * z, p, FMA(z, -0.5f, 1.0f));
}

RT_INLINE float reduce_small(float x, u32* quadrant) {
  const Rounded n = rint_magic(x, TWO_OVER_PI);
  float r = FMA(n.whole, -PIO2_1, x);
  r = FMA(n.whole, -PIO2_2, r);
  *quadrant = (u32)n.integer;
  return FMA(n.whole, -PIO2_3, r);
}
RT_INLINE float reduce_fast(float x, u32* quadrant) {
  const Rounded n = rint_magic(x, TWO_OVER_PI);
  float r = FMA(n.whole, -PIO2_1, x);
  r = FMA(n.whole, -PIO2_2, r);
  r = r < -0.79f ? -0.79f : r;
  *quadrant = (u32)n.integer;
  return r > 0.79f ? 0.79f : r;
}

/// The 32 bits at `shift` < 32 of high:low, from the top.
RT_INLINE u32 funnel(u32 high, u32 low, u32 shift) {
  return high << shift | low >> 1 >> (31 - shift);
}
RT_INLINE u32 high_product(u32 x, u32 y) {
  return (u32)((u64)x * y >> 32);
}

// For |x| >= 2^17. x = M * 2^E; of 2/pi, the 96 bits from place E - 2 on decide x * 2/pi modulo 4. All in 32-bit lanes:
// under the loop vectoriser, which has no branches, every sine pays for this.
RT_INLINE float reduce_large(float x, u32* quadrant) {
  const u32 u = bits(x);
  const u32 mantissa = (u & 0x7fffff) | 0x800000;
  // E = exponent - 150; a zero word is put in front so that the place is never negative: E + 30 >= 24.
  const u32 place = (u >> 23 & 255) - 120;
  const u32 word = place >> 5, shift = place & 31;
  u32 w0 = 0, w1 = 0xa2f9836e, w2 = 0x4e441529, w3 = 0xfc2757d1, w4 = 0xf534ddc0;
  const u32 w5 = 0xdb629599, w6 = 0x3c439041, w7 = 0xfe5163ab;
  // Four of the eight words, by the bits of `word` (0 to 4): by 4, by 2, by 1.
  const int by4 = word & 4, by2 = word & 2, by1 = word & 1;
  w0 = by4 ? w4 : w0, w1 = by4 ? w5 : w1, w2 = by4 ? w6 : w2, w3 = by4 ? w7 : w3;
  w0 = by2 ? w2 : w0, w1 = by2 ? w3 : w1, w2 = by2 ? w4 : w2, w3 = by2 ? w5 : w3, w4 = by2 ? w6 : w4;
  w0 = by1 ? w1 : w0, w1 = by1 ? w2 : w1, w2 = by1 ? w3 : w2, w3 = by1 ? w4 : w3;
  const u32 b0 = funnel(w0, w1, shift), b1 = funnel(w1, w2, shift), b2 = funnel(w2, w3, shift);
  // The top 64 of the product's 96 bits; multiples of 4 fall out at the top.
  const u32 middle = mantissa * b1;
  const u32 low = middle + high_product(mantissa, b2);
  const u32 high = mantissa * b0 + high_product(mantissa, b1) + (low < middle);
  const u32 n = (high + (1u << 29)) >> 30;
  // What is left of the quadrant, in units of 2^-30, as a sum of two floats: 0 may be as close as 2^-30.
  const i32 left = (i32)(high - (n << 30));
  const float first = (float)left;
  const float second = (float)(left - (i32)first) + (float)(i32)(low >> 1) * 0x1p-31f;
  const float r = FMA(first, 0x1.921fb6p-30f, FMA(first, -0x1.777a5cp-55f, second * 0x1.921fb6p-30f));
  const u32 sign = u & 0x80000000u;
  const float signed_r = from_bits(bits(r) ^ sign);
  // inf and NaN have no quadrant.
  *quadrant = sign ? 0u - n : n;
  return magnitude(x) < INF ? signed_r : QUIET_NAN;
}
RT_INLINE float reduce(float x, u32* quadrant) {
  float r = reduce_small(x, quadrant);
  if (__builtin_expect(!(magnitude(x) <= LIMIT), 0)) r = reduce_large(x, quadrant);
  return r;
}

/// sin(r + quadrant * pi/2)
RT_INLINE float sin_quadrant(float r, u32 quadrant) {
  const float z = r * r;
  const float s = sin_poly(r, z), c = cos_poly(z);
  const float y = quadrant & 1 ? c : s;
  return from_bits(bits(y) ^ (quadrant & 2) << 30);
}
RT_INLINE float tan_quadrant(float r, u32 quadrant) {
  const float z = r * r;
  float p = 0x1.1e6122p-8f;
  p = FMA(p, z, 0x1.b3bddap-14f);
  p = FMA(p, z, 0x1.62a7dcp-7f);
  p = FMA(p, z, 0x1.5cc712p-6f);
  p = FMA(p, z, 0x1.bad93ep-5f);
  p = FMA(p, z, 0x1.110da0p-3f);
  p = FMA(p, z, 0x1.555560p-2f);
  const float t = FMA(r * z, p, r);
  const float numerator = quadrant & 1 ? -1.0f : t, denominator = quadrant & 1 ? t : 1.0f;
  return numerator / denominator;
}

float smelt_rt_sin(float x) {
  u32 quadrant;
  const float r = reduce(x, &quadrant);
  const float y = sin_quadrant(r, quadrant);
  return x == 0.0f ? x : y;  // the sign of zero
}
float smelt_rt_cos(float x) {
  u32 quadrant;
  const float r = reduce(x, &quadrant);
  return sin_quadrant(r, quadrant + 1);
}
float smelt_rt_tan(float x) {
  u32 quadrant;
  const float r = reduce(x, &quadrant);
  const float y = tan_quadrant(r, quadrant);
  return x == 0.0f ? x : y;
}

float smelt_rt_fast_sin(float x) {
  u32 quadrant;
  const float r = reduce_fast(x, &quadrant);
  return sin_quadrant(r, quadrant);
}
float smelt_rt_fast_cos(float x) {
  u32 quadrant;
  const float r = reduce_fast(x, &quadrant);
  return sin_quadrant(r, quadrant + 1);
}
float smelt_rt_fast_tan(float x) {
  u32 quadrant;
  const float r = reduce_fast(x, &quadrant);
  return tan_quadrant(r, quadrant);
}

// x = 2k + n/2 + r, all exact, for every float.
typedef struct {
  float y, r;
  u32 quadrant;
} ReducedPi;
RT_INLINE ReducedPi reduce_pi(float x) {
  const float y = FMA(__builtin_rintf(x * 0.5f), -2.0f, x);  // in [-1, 1]
  const Rounded n = rint_magic(y, 2.0f);
  return (ReducedPi){y, FMA(n.whole, -0.5f, y), (u32)n.integer};
}
RT_INLINE float sinpi_poly(float r, float z) {
  float p = 0x1.443928p-4f;
  p = FMA(p, z, -0x1.32ada8p-1f);
  p = FMA(p, z, 0x1.466b78p+1f);
  p = FMA(p, z, -0x1.4abbcep+2f);
  return FMA(r, 0x1.921fb6p+1f, r * FMA(z, p, -0x1.777a5cp-24f));
}
RT_INLINE float cospi_poly(float z) {
  float p = 0x1.d4e420p-3f;
  p = FMA(p, z, -0x1.55b29ap+0f);
  p = FMA(p, z, 0x1.03c1b0p+2f);
  p = FMA(p, z, -0x1.3bd3ccp+2f);
  return FMA(p, z, 1.0f);
}
RT_INLINE float sinpi_quadrant(float r, u32 quadrant) {
  const float z = r * r;
  const float s = sinpi_poly(r, z), c = cospi_poly(z);
  const float y = quadrant & 1 ? c : s;
  return from_bits(bits(y) ^ (quadrant & 2) << 30);
}
float smelt_rt_sinpi(float x) {
  const ReducedPi v = reduce_pi(x);
  const float y = sinpi_quadrant(v.r, v.quadrant);
  return y == 0.0f ? with_sign_of(0.0f, x) : y;
}
float smelt_rt_cospi(float x) {
  const ReducedPi v = reduce_pi(x);
  return sinpi_quadrant(v.r, v.quadrant + 1) + 0.0f;
}
float smelt_rt_tanpi(float x) {
  const ReducedPi v = reduce_pi(x);
  const float z = v.r * v.r;
  const float s = sinpi_poly(v.r, z), c = cospi_poly(z);
  const float numerator = v.quadrant & 1 ? -c : s, denominator = v.quadrant & 1 ? s : c;
  const float y = numerator / denominator;
  const float at_zero = with_sign_of(v.quadrant & 1 ? INF : 0.0f, v.quadrant & 1 ? v.y : x);
  return v.r == 0.0f ? at_zero : y;
}
