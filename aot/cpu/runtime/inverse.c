/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// asin, acos, atan, atan2.
#include "rt.h"

#define PIO2_HIGH 0x1.921fb6p+0f
#define PIO2_LOW -0x1.777a5cp-25f

/// asin(s) - s, z = s^2, for 0 <= |s| <= 1/2.
RT_INLINE float asin_tail(float s, float z) {
  float p = 0x1.5959aap-5f;
  p = FMA(p, z, 0x1.8c415ap-6f);
  p = FMA(p, z, 0x1.747b72p-5f);
  p = FMA(p, z, 0x1.330206p-4f);
  p = FMA(p, z, 0x1.5555c8p-3f);
  return s * z * p;
}
/// atan(t) - t, |t| <= tan(pi/8).
RT_INLINE float atan_tail(float t) {
  const float z = t * t;
  float p = -0x1.f2e778p-5f;
  p = FMA(p, z, 0x1.b224940000000p-4f);
  p = FMA(p, z, -0x1.23b9a4p-3f);
  p = FMA(p, z, 0x1.9991e2p-3f);
  p = FMA(p, z, -0x1.55554ap-2f);
  return t * z * p;
}

float smelt_rt_asin(float x) {
  const float a = magnitude(x);
  const int outer = a > 0.5f;
  const float z = outer ? FMA(a, -0.5f, 0.5f) : a * a;
  const float s = outer ? __builtin_sqrtf(z) : a;
  const float tail = asin_tail(s, z);
  const float far = PIO2_HIGH - 2.0f * (s + tail) + PIO2_LOW;
  return with_sign_of(outer ? far : s + tail, x);
}
float smelt_rt_acos(float x) {
  const float a = magnitude(x);
  const int outer = a > 0.5f;
  const float z = outer ? FMA(a, -0.5f, 0.5f) : x * x;
  const float s = outer ? __builtin_sqrtf(z) : x;
  const float tail = asin_tail(s, z);
  const float middle = PIO2_HIGH - (s + (tail - PIO2_LOW));
  const float far = 2.0f * (s + tail);
  const float mirrored = 2.0f * (PIO2_HIGH - (s + (tail - PIO2_LOW)));
  const float outer_angle = x > 0.0f ? far : mirrored;
  return outer ? outer_angle : middle;
}
float smelt_rt_atan(float x) {
  const float a = magnitude(x);
  const int far = a > 0x1.3504f4p+1f, middle = a > 0x1.a8279ap-2f;  // tan(3pi/8), tan(pi/8)
  const float numerator = far ? -1.0f : (middle ? a - 1.0f : a);
  const float denominator = far ? a : (middle ? a + 1.0f : 1.0f);
  const float t = numerator / denominator;
  const float high = far ? PIO2_HIGH : (middle ? 0.5f * PIO2_HIGH : 0.0f);
  const float low = far ? PIO2_LOW : (middle ? 0.5f * PIO2_LOW : 0.0f);
  return with_sign_of(high + (t + (atan_tail(t) + low)), x);
}
float smelt_rt_atan2(float y, float x) {
  const float ax = magnitude(x), ay = magnitude(y);
  const int steep = ay > ax;
  const float larger = steep ? ay : ax, smaller = steep ? ax : ay;
  const float down = larger > 0x1p126f ? 0.25f : 1.0f;  // so that the sum below does not overflow
  const int both_infinite = smaller == INF;
  const float num = both_infinite ? 1.0f : smaller * down, den = both_infinite ? 1.0f : larger * down;
  const int middle = num > 0x1.a8279ap-2f * den;
  const float numerator = middle ? num - den : num;
  const float denominator = middle ? num + den : den;
  float t = numerator / denominator;
  t = larger == 0.0f ? 0.0f : t;
  // angle = high + low + atan(t), then mirrored at the diagonal and at the y axis, exactly but for one rounding each.
  float high = middle ? 0.5f * PIO2_HIGH : 0.0f, low = middle ? 0.5f * PIO2_LOW : 0.0f;
  float small = t, tail = atan_tail(t);
  high = steep ? PIO2_HIGH - high : high;
  low = steep ? PIO2_LOW - low : low;
  small = steep ? -small : small, tail = steep ? -tail : tail;
  const int left = bits(x) >> 31;
  high = left ? 2.0f * PIO2_HIGH - high : high;
  low = left ? 2.0f * PIO2_LOW - low : low;
  small = left ? -small : small, tail = left ? -tail : tail;
  const float angle = with_sign_of(high + (small + (tail + low)), y);
  return ((x != x) | (y != y)) ? x + y : angle;
}
