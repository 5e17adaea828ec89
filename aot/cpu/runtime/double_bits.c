/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// What is exact of double: fmod, ldexp, frexp, nextafter, rounding to odd.
#include "doubles.h"

RT_INLINE double fmod_step_d(double a, double b) {  // a < 2^52 b
  const double r = FMA_D(-__builtin_trunc(a / b), b, a);
  return r < 0.0 ? r + b : r;
}
double smelt_rt_d_fmod(double x, double y) {
  const double a = magnitude_d(x), b = magnitude_d(y);
  double r = a;
  if (__builtin_expect((a < INF_D) & (b > 0.0) & (b < INF_D), 1)) {
    while (r >= b) {  // each takes 50 bits off the quotient
      const i64 apart = (i64)(bits_d(r) >> 52) - (i64)(bits_d(b) >> 52) - 50;
      r = fmod_step_d(r, scale_d(b, (i32)(apart > 0 ? apart : 0)));
    }
  }
  r = b == INF_D ? a : r;
  return ((a < INF_D) & (y == y) & (y != 0.0)) ? with_sign_of_d(r, x) : NAN_D;
}
double smelt_rt_d_ldexp(double x, i32 n) {
  n = n < -2200 ? -2200 : n;
  n = n > 2200 ? 2200 : n;
  const i32 first = n / 3, second = (n - first) / 2;
  return x * power_of_two_d(first) * power_of_two_d(second) * power_of_two_d(n - first - second);
}
double smelt_rt_d_frexp_fraction(double x) {
  const double wide = magnitude_d(x) < 0x1p-1022 ? x * 0x1p54 : x;
  const double r = from_bits_d((bits_d(wide) & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
  return ((x != 0.0) & (magnitude_d(x) < INF_D)) ? r : x;
}
i32 smelt_rt_d_frexp_exponent(double x) {
  const int small = magnitude_d(x) < 0x1p-1022;
  const i32 e = (i32)(bits_d(small ? x * 0x1p54 : x) >> 52 & 0x7ff) - 1022 - (small ? 54 : 0);
  return ((x != 0.0) & (magnitude_d(x) < INF_D)) ? e : 0;
}
double smelt_rt_d_nextafter(double x, double y) {
  const u64 u = bits_d(x);
  const int away = (y > x) == (x > 0.0);
  const u64 from_zero = (bits_d(y) & 0x8000000000000000ull) | 1;
  double r = from_bits_d(x == 0.0 ? from_zero : away ? u + 1 : u - 1);
  r = x == y ? y : r;
  return ((x != x) | (y != y)) ? x + y : r;
}
/// The float nearest to zero of the two around x, with its last bit set unless it is x: rounding that to a smaller
/// float is the one rounding that counts.
float smelt_rt_d_to_odd_float(double x) {
  const float near = (float)x;
  const double back = near;
  const u32 u = bits(near);
  const u32 towards_zero = magnitude_d(back) > magnitude_d(x) ? u - 1 : u;
  const int inexact = (back != x) & (x == x) & (magnitude_d(x) < INF_D);
  return from_bits(inexact ? towards_zero | 1 : u);
}
