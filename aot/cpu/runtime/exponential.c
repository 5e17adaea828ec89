/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// exp, exp2, exp10 and the hyperbolic functions: 2^n * p(r) with r at most half a step from zero.
#include "rt.h"

#define LOG2_E 0x1.715476p+0f
#define LN2_HIGH 0x1.62e430p-1f
#define LN2_LOW -0x1.05c610p-29f

/// e^x * 2^shift, for -104 <= x <= 100.
RT_INLINE float exp_shifted(float x, i32 shift) {
  const Rounded n = rint_magic(x, LOG2_E);
  float r = FMA(n.whole, -LN2_HIGH, x);
  r = FMA(n.whole, -LN2_LOW, r);
  float p = 0x1.6a5136p-10f;
  p = FMA(p, r, 0x1.12397ap-7f);
  p = FMA(p, r, 0x1.5558acp-5f);
  p = FMA(p, r, 0x1.555492p-3f);
  p = FMA(p, r, 0x1.fffffcp-2f);
  p = FMA(r * r, p, r) + 1.0f;
  return scale(p, n.integer + shift);
}
RT_INLINE float clamp_to(float x, float low, float high) {  // keeps NaN
  x = x < low ? low : x;
  return x > high ? high : x;
}

float smelt_rt_exp(float x) {
  return exp_shifted(clamp_to(x, -104.0f, 89.0f), 0);
}

// One multiple of ln2 and a shorter polynomial; denormal results are zero. Bound: 3 + floor(|2x|) ulp.
float smelt_rt_fast_exp(float x) {
  const Rounded n = rint_magic(x, LOG2_E);
  const float r = FMA(n.whole, -LN2_HIGH, x);
  float p = 0x1.0fa09cp-7f;
  p = FMA(p, r, 0x1.573a1ap-5f);
  p = FMA(p, r, 0x1.555a7ep-3f);
  p = FMA(p, r, 0x1.fffdc6p-2f);
  p = FMA(p, r, 0x1.fffff6p-1f);
  p = FMA(p, r, 1.0f);
  // p is in [0.70, 1.42]: inside these bounds adding n to its exponent never leaves the normal range.
  float y = from_bits(bits(p) + ((u32)n.integer << 23));
  y = x <= 0x1.62e42ep+6f ? y : x * INF;
  return x < -0x1.5d589ep+6f ? 0.0f : y;
}

float smelt_rt_exp2(float x) {
  x = clamp_to(x, -151.0f, 129.0f);
  const Rounded n = rint_magic(x, 1.0f);
  const float r = x - n.whole;
  float p = 0x1.417a70p-13f;
  p = FMA(p, r, 0x1.5f0948p-10f);
  p = FMA(p, r, 0x1.3b2dd2p-7f);
  p = FMA(p, r, 0x1.c6af7ap-5f);
  p = FMA(p, r, 0x1.ebfbdcp-3f);
  p = FMA(p, r, 0x1.62e430p-1f);
  p = FMA(p, r, 1.0f);
  return scale(p, n.integer);
}

float smelt_rt_fast_exp2(float x) {
  const Rounded n = rint_magic(x, 1.0f);
  const float r = x - n.whole;
  float p = 0x1.5be7cap-10f;
  p = FMA(p, r, 0x1.3ce940p-7f);
  p = FMA(p, r, 0x1.c6b6c0p-5f);
  p = FMA(p, r, 0x1.ebf9c0p-3f);
  p = FMA(p, r, 0x1.62e42ap-1f);
  p = FMA(p, r, 1.0f);
  float y = from_bits(bits(p) + ((u32)n.integer << 23));
  y = x < 128.0f ? y : x * INF;
  return x < -126.0f ? 0.0f : y;
}

float smelt_rt_exp10(float x) {
  x = clamp_to(x, -46.0f, 39.0f);
  const Rounded n = rint_magic(x, 0x1.a934f0p+1f);  // log2(10)
  float r = FMA(n.whole, -0x1.344136p-2f, x);       // log10(2)
  r = FMA(n.whole, 0x1.ec10c0p-27f, r);
  float p = 0x1.a642a6p-3f;
  p = FMA(p, r, 0x1.156a26p-1f);
  p = FMA(p, r, 0x1.2bd9fap+0f);
  p = FMA(p, r, 0x1.046f9cp+1f);
  p = FMA(p, r, 0x1.53524ap+1f);
  p = FMA(p, r, 0x1.26bb1cp+1f);
  p = FMA(p, r, 1.0f);
  return scale(p, n.integer);
}

float smelt_rt_sinh(float x) {
  const float a = magnitude(x), z = x * x;
  float p = 0x1.756cacp-19f;
  p = FMA(p, z, 0x1.a022bap-13f);
  p = FMA(p, z, 0x1.1110e0p-7f);
  p = FMA(p, z, 0x1.555556p-3f);
  const float near_zero = FMA(x * z, p, x);
  const float e = exp_shifted(clamp_to(a, 0.0f, 100.0f), -1);
  const float far = with_sign_of(e - 0.25f / e, x);
  return a < 1.0f ? near_zero : far;
}

float smelt_rt_cosh(float x) {
  const float e = exp_shifted(clamp_to(magnitude(x), 0.0f, 100.0f), -1);
  return e + 0.25f / e;
}

float smelt_rt_tanh(float x) {
  const float a = magnitude(x), z = x * x;
  float p = 0x1.1a4658p-9f;
  p = FMA(p, z, -0x1.0c64eap-7f);
  p = FMA(p, z, 0x1.63a618p-6f);
  p = FMA(p, z, -0x1.b9f190p-5f);
  p = FMA(p, z, 0x1.11107ap-3f);
  p = FMA(p, z, -0x1.555554p-2f);
  const float near_zero = FMA(a * z, p, a);
  const float e = exp_shifted(clamp_to(a + a, 0.0f, 40.0f), 0);
  const float far = 1.0f - 2.0f / (e + 1.0f);
  return with_sign_of(a < 0.625f ? near_zero : far, x);
}
