/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Logarithms, and the inverse hyperbolic functions that are logarithms.
#include "rt.h"

#define LOG2_E 0x1.715476p+0f

/// log(1 + f) - f, for 1 + f in [sqrt(1/2), sqrt(2)).
RT_INLINE float log1p_tail(float f) {
  const float z = f * f;
  float p = 0x1.1476e4p-4f;
  p = FMA(p, f, -0x1.de0388p-4f);
  p = FMA(p, f, 0x1.e6bf5ap-4f);
  p = FMA(p, f, -0x1.fc2876p-4f);
  p = FMA(p, f, 0x1.233ba6p-3f);
  p = FMA(p, f, -0x1.555c46p-3f);
  p = FMA(p, f, 0x1.99a476p-3f);
  p = FMA(p, f, -0x1.000006p-2f);
  p = FMA(p, f, 0x1.555548p-2f);
  return FMA(z, -0.5f, f * z * p);
}
/// The same to 2^-21 of the result.
RT_INLINE float log1p_tail_fast(float f) {
  const float z = f * f;
  float p = -0x1.a2bd00p-4f;
  p = FMA(p, f, 0x1.4a90dap-3f);
  p = FMA(p, f, -0x1.5f94c2p-3f);
  p = FMA(p, f, 0x1.97c31cp-3f);
  p = FMA(p, f, -0x1.ff9a22p-3f);
  p = FMA(p, f, 0x1.5558e4p-2f);
  return FMA(z, -0.5f, f * z * p);
}
RT_INLINE float log_special(float x, float y) {
  y = x < INF ? y : x;
  y = x < 0.0f ? QUIET_NAN : y;
  return x == 0.0f ? -INF : y;
}

float smelt_rt_log(float x) {
  const LogParts v = log_parts(x);
  float y = FMA(v.e, -0x1.05c610p-29f, log1p_tail(v.f)) + v.f;
  return log_special(x, FMA(v.e, 0x1.62e430p-1f, y));
}
float smelt_rt_log2(float x) {
  const LogParts v = log_parts(x);
  const float tail = log1p_tail(v.f);
  // (f + tail) * log2(e), with f's product exact to twice the precision.
  const float high = v.f * LOG2_E;
  float low = FMA(v.f, LOG2_E, -high);
  low = FMA(v.f, 0x1.4ae0c0p-26f, low);
  low = FMA(tail, LOG2_E, low);
  const float sum = v.e + high;
  return log_special(x, sum + (low + (high - (sum - v.e))));
}
float smelt_rt_log10(float x) {
  const LogParts v = log_parts(x);
  const float y = (v.f + log1p_tail(v.f)) * 0x1.bcb7b2p-2f;
  return log_special(x, FMA(v.e, 0x1.344136p-2f, FMA(v.e, -0x1.ec10c0p-27f, y)));
}

float smelt_rt_fast_log(float x) {
  const LogParts v = log_parts(x);
  return log_special(x, FMA(v.e, 0x1.62e430p-1f, v.f + log1p_tail_fast(v.f)));
}
float smelt_rt_fast_log2(float x) {
  const LogParts v = log_parts(x);
  return log_special(x, FMA(v.f + log1p_tail_fast(v.f), LOG2_E, v.e));
}
float smelt_rt_fast_log10(float x) {
  const LogParts v = log_parts(x);
  return log_special(x, FMA(v.e, 0x1.344136p-2f, (v.f + log1p_tail_fast(v.f)) * 0x1.bcb7b2p-2f));
}

/// log2(x) for x > 0, finite and normal, to 2^-36.
RT_INLINE double log2_wide(double x) {
  const u64 u = bits_d(x) - 0x3fe6a09e667f3bcdull;
  const double m = from_bits_d((u & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  // The exponent as a double without a 64-bit conversion, which AVX2 has not.
  const double e = (double)(i32)((i64)u >> 52);
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 0x1.5ce7c2b80993bp-2;
  p = FMA_D(p, z, 0x1.a58d90411d903p-2);
  p = FMA_D(p, z, 0x1.27777fd9a7830p-1);
  p = FMA_D(p, z, 0x1.ec709d12e1929p-1);
  p = FMA_D(p, z, 0x1.71547652bede5p+1);
  return FMA_D(s, p, e);
}
#define LN2_D 0x1.62e42fefa39efp-1

float smelt_rt_asinh(float x) {
  const float a = magnitude(x);
  const double d = a < INF ? a : 1.0f;
  const float y = (float)(log2_wide(d + __builtin_sqrt(FMA_D(d, d, 1.0))) * LN2_D);
  const float near_zero = FMA(a * a, a * -0x1.555556p-3f, a);
  const float large = a < INF ? y : a;
  return with_sign_of(a < 0x1p-12f ? near_zero : large, x);
}
float smelt_rt_acosh(float x) {
  const double d = x < INF ? (x >= 1.0f ? x : 1.0f) : 1.0f;
  const float y = (float)(log2_wide(d + __builtin_sqrt(FMA_D(d, d, -1.0))) * LN2_D);
  const float finite = x >= 1.0f ? y : QUIET_NAN;
  return x < INF ? finite : x;
}
float smelt_rt_atanh(float x) {
  const float a = magnitude(x);
  const double d = a < 1.0f ? a : 0.0f;
  const float y = (float)(log2_wide((1.0 + d) / (1.0 - d)) * (0.5 * LN2_D));
  const float near_zero = FMA(x * x, x * 0x1.555556p-2f, x);
  const float edge = a == 1.0f ? INF : QUIET_NAN;
  const float large = with_sign_of(a < 1.0f ? y : edge, x);
  return a < 0x1p-12f ? near_zero : large;
}
