/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// What the functions of double share: constants, powers of two, and pairs of doubles, of which the second is the error
// of the first. Those functions are for kernels for the CPU alone and within 1 ulp (docs/design/cpu-math.md section 8).
// Simple before fast: series of Taylor over short ranges, and pairs where a rounding would show. Numbers that are no
// fractions: double_coefficients.py.
#ifndef SMELT_RT_DOUBLES_H
#define SMELT_RT_DOUBLES_H

#include "rt.h"

#define INF_D __builtin_inf()
#define NAN_D __builtin_nan("")
#define LN2_D 0x1.62e42fefa39efp-1
#define LN2_D_LOW 0x1.abc9e3b39803fp-56
#define LN2_D_SHORT 0x1.62e42fep-1 /* times an exponent: exact */
#define LN2_D_REST 0x1.f473de6af278fp-30
#define PI_D 0x1.921fb54442d18p+1
#define PI_D_LOW 0x1.1a62633145c07p-53

RT_INLINE double magnitude_d(double x) {
  return __builtin_fabs(x);
}
RT_INLINE double with_sign_of_d(double x, double sign) {
  return __builtin_copysign(x, sign);
}
RT_INLINE double power_of_two_d(i32 n) {  // -1022 <= n <= 1023
  return from_bits_d((u64)(n + 1023) << 52);
}
/// p * 2^n for |n| <= 2000, in two steps.
RT_INLINE double scale_d(double p, i32 n) {
  const i32 half = n >> 1;
  return p * power_of_two_d(half) * power_of_two_d(n - half);
}
RT_INLINE double clamp_d(double x, double low, double high) {  // keeps NaN
  x = x < low ? low : x;
  return x > high ? high : x;
}
/// rint(x) as an integer, for |x| < 2^31; any other x gives a harmless one.
RT_INLINE i32 integer_of_d(double x) {
  return (i32)(bits_d(x + MAGIC_D) & 0xffffffffu);
}

typedef struct {
  double high, low;
} Pair;

RT_INLINE Pair sum_of(double a, double b) {  // Knuth: exact
  const double s = a + b, t = s - a;
  return (Pair){s, (a - (s - t)) + (b - t)};
}
RT_INLINE Pair sum_of_ordered(double a, double b) {  // |a| >= |b|
  const double s = a + b;
  return (Pair){s, b - (s - a)};
}
RT_INLINE Pair product_of(double a, double b) {
  const double p = a * b;
  return (Pair){p, FMA_D(a, b, -p)};
}
RT_INLINE Pair add_pairs(Pair a, Pair b) {
  const Pair s = sum_of(a.high, b.high);
  return sum_of_ordered(s.high, s.low + (a.low + b.low));
}
RT_INLINE Pair add_to_pair(Pair a, double b) {
  const Pair s = sum_of(a.high, b);
  return sum_of_ordered(s.high, s.low + a.low);
}
RT_INLINE Pair multiply_pairs(Pair a, Pair b) {
  const Pair p = product_of(a.high, b.high);
  return sum_of_ordered(p.high, p.low + FMA_D(a.high, b.low, a.low * b.high));
}
RT_INLINE Pair divide_pairs(Pair a, Pair b) {
  const double q = a.high / b.high;
  const double rest = FMA_D(-q, b.high, a.high) + FMA_D(-q, b.low, a.low);
  return sum_of_ordered(q, rest / b.high);
}
RT_INLINE Pair root_of_pair(Pair a) {  // a > 0
  const double s = __builtin_sqrt(a.high);
  return sum_of_ordered(s, (FMA_D(-s, s, a.high) + a.low) / (2.0 * s));
}
RT_INLINE Pair negated(Pair a) {
  return (Pair){-a.high, -a.low};
}

#endif
