/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// rsqrt, fmod, ldexp, nextafter: exact or correctly rounded.
#include "rt.h"

// 1/sqrt(x) is off by up to 1.5 ulp; one step with an exact residual makes it right (but for one
// mantissa in 2^24, which is 0.5000001 ulp off).
float smelt_rt_rsqrt(float x) {
  const float y = 1.0f / __builtin_sqrtf(x);
  const float p = x * y, p_low = FMA(x, y, -p);
  const float residual = FMA(-p_low, y, FMA(-p, y, 1.0f));
  const float better = FMA(0.5f * y, residual, y);
  return ((y > 0.0f) & (y < INF)) ? better : y;
}

/// a mod b for 0 <= a < 2^29 * b: the quotient is exact or one too large.
RT_INLINE double fmod_step(double a, double b) {
  const double r = FMA_D(-__builtin_trunc(a / b), b, a);
  return r < 0.0 ? r + b : r;
}
RT_INLINE float fmod_special(float x, float y, float r) {
  r = with_sign_of(r, x);
  r = magnitude(y) == INF ? x : r;
  return ((magnitude(x) < INF) & (y == y) & (y != 0.0f)) ? r : QUIET_NAN;
}
float smelt_rt_fmod(float x, float y) {
  const double a = magnitude(x), b = magnitude(y);
  double r = fmod_step(a, b);
  if (__builtin_expect((a >= b * 0x1p29) & (b > 0.0) & (a < INF), 0)) {
    r = a;
    // At most ten rounds: each takes 28 bits off the quotient.
    while (r >= b) {
      const i64 apart = (i64)(bits_d(r) >> 52) - (i64)(bits_d(b) >> 52) - 28;
      const double up = from_bits_d((u64)((apart > 0 ? apart : 0) + 1023) << 52);
      r = fmod_step(r, b * up);
    }
  }
  return fmod_special(x, y, (float)r);
}
// Exact too while |x / y| < 2^29, as far as any float has bits to say.
float smelt_rt_fast_fmod(float x, float y) {
  const double a = magnitude(x), b = magnitude(y);
  return fmod_special(x, y, (float)fmod_step(a, b));
}

float smelt_rt_ldexp(float x, i32 k) {
  k = k < -400 ? -400 : k;
  k = k > 400 ? 400 : k;
  return (float)((double)x * from_bits_d((u64)(k + 1023) << 52));
}

float smelt_rt_nextafter(float x, float y) {
  const u32 u = bits(x);
  const int away = (y > x) == (x > 0.0f);  // from zero
  const u32 step = away ? u + 1 : u - 1;
  const u32 from_zero = (bits(y) & 0x80000000u) | 1;
  float r = from_bits(x == 0.0f ? from_zero : step);
  r = x == y ? y : r;
  return ((x != x) | (y != y)) ? x + y : r;
}
