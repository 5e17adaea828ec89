/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// sin, cos, tan of double over its whole range, and their inverses.
#include "doubles.h"

// ---- Sine, cosine, tangent ------------------------------------------------------------------------------------------

/// The first 1280 bits of 2/pi behind the point, after 64 zeros.
static const u32 kTwoOverPi[] = {
    0,           0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
    0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u,
    0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu,
    0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau,
    0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du, 0,           0,           0,
    0,           0,           0,           0,           0,
};

RT_INLINE u32 two_over_pi_word(i32 bit) {  // 32 bits from bit on, which counts from 0 behind the point
  const i32 at = bit + 64, word = at >> 5, shift = at & 31;
  const u64 both = (u64)kTwoOverPi[word] << 32 | kTwoOverPi[word + 1];
  return (u32)(both << shift >> 32);
}

/// 53 bits of 2/pi: AMD's v_trig_preop_f64 (RDNA 3 ISA, "V_TRIG_PREOP_F64").
double smelt_rt_d_trig_preop(double x, i32 segment) {
  const i32 exponent = (i32)(bits_d(x) >> 52 & 0x7ff);
  const i32 shift = (segment & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  const i32 at = shift < 1201 ? shift : 1201;
  const u64 all = (u64)two_over_pi_word(at) << 32 | two_over_pi_word(at + 32);
  const i32 valid = 1201 - at;  // bits that the hardware's table has
  const u64 kept = valid >= 53 ? ~0ull : valid > 0 ? ~0ull << (64 - valid) : 0;
  const i32 scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  const double number = (double)(i64)((all & kept) >> 11);
  return scale < -1022 ? number * 0x1p-1022 * power_of_two_d(scale + 1022 < -1022 ? -1022 : scale + 1022)
                       : number * power_of_two_d(scale);
}

/// x = n pi/2 + r, |r| <= pi/4 and a little; n modulo 4 and more.
typedef struct {
  Pair r;
  i32 n;
} Angle;

/// |x| >= 2^30: the bits of 2/pi that count, times the bits of x.
RT_INLINE Angle reduce_far(double x) {
  const u64 mantissa = (bits_d(x) & 0xfffffffffffffull) | 0x10000000000000ull;
  const i32 exponent = (i32)(bits_d(x) >> 52 & 0x7ff) - 1075;  // x = mantissa * 2^exponent
  const u64 low = mantissa & 0xffffffffu, high = mantissa >> 32;
  // 192 bits from that of 4 / 2^exponent on; their product modulo 2^192 has two bits in front of the point.
  u32 product[6];
  u64 carry = 0;
  for (i32 i = 0; i < 6; ++i) {
    const u64 sum = low * two_over_pi_word(exponent - 2 + 32 * (5 - i)) + carry;
    product[i] = (u32)sum;
    carry = sum >> 32;
  }
  carry = 0;
  for (i32 i = 1; i < 6; ++i) {
    const u64 sum = high * (u64)two_over_pi_word(exponent - 2 + 32 * (6 - i)) + product[i] + carry;
    product[i] = (u32)sum;
    carry = sum >> 32;
  }
  const u32 top = product[5];
  const u32 quadrant = (top >> 30) + (top >> 29 & 1);
  u64 first = (u64)top << 32 | product[4], second = (u64)product[3] << 32 | product[2];
  first = first << 2 | second >> 62;
  second = second << 2 | (u64)product[1] >> 30;
  const int negative = first >> 63;  // more than half: from above
  first = negative ? ~first : first;
  second = negative ? ~second : second;
  // 128 bits behind the point, in pieces that doubles hold.
  const double a = (double)(i64)(first >> 32) * 0x1p-32, b = (double)(i64)(first & 0xffffffffu) * 0x1p-64;
  const double c = (double)(i64)(second >> 32) * 0x1p-96, d = (double)(i64)(second & 0xffffffffu) * 0x1p-128;
  const Pair ab = sum_of_ordered(a, b), cd = {c, d};
  Pair turn = add_pairs(ab, cd);
  turn = negative ? negated(turn) : turn;
  return (Angle){multiply_pairs(turn, (Pair){0.5 * PI_D, 0.5 * PI_D_LOW}), (i32)quadrant};
}

RT_INLINE Angle reduce_angle(double x) {
  const double a = magnitude_d(x), inner = a < 0x1p30 ? a : 0.0;
  const double n = __builtin_rint(inner * (2.0 / PI_D));
  const double first = FMA_D(-n, 0x1.921fb54442d18p+0, inner);  // exact
  const Pair second = product_of(n, 0x1.1a62633145c07p-54);
  const Pair rest = sum_of(first, -second.high);
  const double low = rest.low - FMA_D(n, -0x1.f1976b7ed8fbcp-110, second.low);
  Angle angle = {sum_of_ordered(rest.high, low), integer_of_d(n)};
  if (__builtin_expect((a >= 0x1p30) & (a < INF_D), 0)) angle = reduce_far(a);
  if (x < 0.0) angle = (Angle){negated(angle.r), -angle.n};
  return angle;
}

/// sin(r) and cos(r) for |r| <= pi/4 and a little, as sums.
RT_INLINE Pair sine_short(Pair r) {
  const double x = r.high, z = x * x;
  double p = 1.0 / 51090942171709440000.0;
  p = FMA_D(p, z, -1.0 / 121645100408832000.0);
  p = FMA_D(p, z, 1.0 / 355687428096000.0);
  p = FMA_D(p, z, -1.0 / 1307674368000.0);
  p = FMA_D(p, z, 1.0 / 6227020800.0);
  p = FMA_D(p, z, -1.0 / 39916800.0);
  p = FMA_D(p, z, 1.0 / 362880.0);
  p = FMA_D(p, z, -1.0 / 5040.0);
  p = FMA_D(p, z, 1.0 / 120.0);
  p = FMA_D(p, z, -1.0 / 6.0);
  const double cosine = FMA_D(-0.5, z, 1.0) + z * z * (1.0 / 24.0);
  return sum_of_ordered(x, FMA_D(x * z, p, r.low * cosine));
}
RT_INLINE Pair cosine_short(Pair r) {
  const double x = r.high;
  const Pair z = product_of(x, x);
  double p = 1.0 / 2432902008176640000.0;
  p = FMA_D(p, z.high, -1.0 / 6402373705728000.0);
  p = FMA_D(p, z.high, 1.0 / 20922789888000.0);
  p = FMA_D(p, z.high, -1.0 / 87178291200.0);
  p = FMA_D(p, z.high, 1.0 / 479001600.0);
  p = FMA_D(p, z.high, -1.0 / 3628800.0);
  p = FMA_D(p, z.high, 1.0 / 40320.0);
  p = FMA_D(p, z.high, -1.0 / 720.0);
  p = FMA_D(p, z.high, 1.0 / 24.0);
  const Pair first = sum_of_ordered(1.0, -0.5 * z.high);
  const double sine = x - x * z.high * (1.0 / 6.0) + x * z.high * z.high * (1.0 / 120.0);
  const double rest = FMA_D(-0.5, z.low, FMA_D(-sine, r.low, z.high * z.high * p));
  return sum_of_ordered(first.high, first.low + rest);
}

/// The sine of n quarter turns and r.
RT_INLINE double turned(Pair r, i32 n) {
  const Pair s = sine_short(r), c = cosine_short(r);
  const double value = (n & 1) ? c.high + c.low : s.high + s.low;
  return (n & 2) ? -value : value;
}
double smelt_rt_d_sin(double x) {
  const Angle angle = reduce_angle(x);
  const double r = turned(angle.r, angle.n);
  return magnitude_d(x) < INF_D ? (magnitude_d(x) < 0x1p-28 ? x : r) : NAN_D;
}
double smelt_rt_d_cos(double x) {
  const Angle angle = reduce_angle(x);
  const double r = turned(angle.r, angle.n + 1);
  return magnitude_d(x) < INF_D ? r : NAN_D;
}
double smelt_rt_d_tan(double x) {
  const Angle angle = reduce_angle(x);
  const Pair s = sine_short(angle.r), c = cosine_short(angle.r);
  const Pair q = (angle.n & 1) ? negated(divide_pairs(c, s)) : divide_pairs(s, c);
  const double r = q.high + q.low;
  return magnitude_d(x) < INF_D ? (magnitude_d(x) < 0x1p-28 ? x : r) : NAN_D;
}
/// x half turns; x in [-1/4, 1/4] and quarter turns.
RT_INLINE Angle reduce_half_turns(double x) {
  const double whole = 2.0 * __builtin_rint(0.5 * x), part = x - whole;  // exact, in [-1, 1]
  const double n = __builtin_rint(2.0 * part);
  const Pair r = multiply_pairs((Pair){FMA_D(-0.5, n, part), 0.0}, (Pair){PI_D, PI_D_LOW});
  return (Angle){r, integer_of_d(n)};
}
double smelt_rt_d_sinpi(double x) {
  const Angle angle = reduce_half_turns(magnitude_d(x) < INF_D ? x : 0.0);
  const double r = turned(angle.r, angle.n);
  return magnitude_d(x) < INF_D ? (r == 0.0 ? with_sign_of_d(0.0, x) : r) : NAN_D;
}
double smelt_rt_d_cospi(double x) {
  const Angle angle = reduce_half_turns(magnitude_d(x) < INF_D ? x : 0.0);
  const double r = turned(angle.r, angle.n + 1);
  return magnitude_d(x) < INF_D ? (r == 0.0 ? 0.0 : r) : NAN_D;
}

// ---- Inverse functions of the circle --------------------------------------------------------------------------------

/// The angle of (x, y), both >= 0 and not both 0, neither infinite nor near the ends of the range.
RT_INLINE Pair first_quadrant(Pair y, Pair x) {
  const int flat = y.high <= 0x1.a827999fcef32p-2 * x.high, steep = y.high > 0x1.3504f333f9de6p+1 * x.high;
  const Pair above = flat ? y : steep ? negated(x) : add_pairs(y, negated(x));
  const Pair below = flat ? x : steep ? y : add_pairs(y, x);
  const Pair begin = flat    ? (Pair){0.0, 0.0}
                     : steep ? (Pair){0.5 * PI_D, 0.5 * PI_D_LOW}
                             : (Pair){0.25 * PI_D, 0.25 * PI_D_LOW};
  const Pair u = divide_pairs(above, below);
  const double z = u.high * u.high;
  double p = 1.0 / 45.0;
  p = FMA_D(p, z, -1.0 / 43.0);
  p = FMA_D(p, z, 1.0 / 41.0);
  p = FMA_D(p, z, -1.0 / 39.0);
  p = FMA_D(p, z, 1.0 / 37.0);
  p = FMA_D(p, z, -1.0 / 35.0);
  p = FMA_D(p, z, 1.0 / 33.0);
  p = FMA_D(p, z, -1.0 / 31.0);
  p = FMA_D(p, z, 1.0 / 29.0);
  p = FMA_D(p, z, -1.0 / 27.0);
  p = FMA_D(p, z, 1.0 / 25.0);
  p = FMA_D(p, z, -1.0 / 23.0);
  p = FMA_D(p, z, 1.0 / 21.0);
  p = FMA_D(p, z, -1.0 / 19.0);
  p = FMA_D(p, z, 1.0 / 17.0);
  p = FMA_D(p, z, -1.0 / 15.0);
  p = FMA_D(p, z, 1.0 / 13.0);
  p = FMA_D(p, z, -1.0 / 11.0);
  p = FMA_D(p, z, 1.0 / 9.0);
  p = FMA_D(p, z, -1.0 / 7.0);
  p = FMA_D(p, z, 1.0 / 5.0);
  p = FMA_D(p, z, -1.0 / 3.0);
  const Pair small = sum_of_ordered(u.high, FMA_D(u.high * z, p, u.low));
  return add_pairs(begin, small);
}

double smelt_rt_d_atan(double x) {
  const double a = magnitude_d(x);
  const Pair r = first_quadrant((Pair){a < 0x1p200 ? a : 0x1p200, 0.0}, (Pair){1.0, 0.0});
  double y = a < 0x1p-28 ? a : r.high + r.low;
  return x == x ? with_sign_of_d(y, x) : x;
}
double smelt_rt_d_atan2(double y, double x) {
  double a = magnitude_d(y), b = magnitude_d(x);
  const int both = (a == INF_D) & (b == INF_D);
  const int on_axis = (a == 0.0) & (b == 0.0);
  const double large = a > b ? a : b;
  const double by = large > 0x1p500 ? 0x1p-600 : large < 0x1p-400 ? 0x1p540 : 1.0;
  const double above = both ? 1.0 : a == INF_D ? 1.0 : b == INF_D ? 0.0 : a * by;
  const double below = both ? 1.0 : a == INF_D ? 0.0 : (b == INF_D) | on_axis ? 1.0 : b * by;
  Pair r = first_quadrant((Pair){above, 0.0}, (Pair){below, 0.0});
  const int left = (i64)bits_d(x) < 0;
  r = left ? add_pairs((Pair){PI_D, PI_D_LOW}, negated(r)) : r;
  double angle = r.high + r.low;
  // A quotient below the range that pairs work in is nearly itself.
  angle = (!left & (above > 0.0) & (above < 0x1p-60 * below)) ? a / b : angle;
  angle = (!left & (b == INF_D) & !both) ? 0.0 : angle;
  return ((x != x) | (y != y)) ? NAN_D : with_sign_of_d(angle, y);
}
/// sqrt(1 - x^2), for |x| <= 1.
RT_INLINE Pair other_leg(double x) {
  const Pair square = product_of(x, x);
  const Pair rest = add_to_pair(sum_of(1.0, -square.high), -square.low);
  return rest.high > 0.0 ? root_of_pair(rest) : (Pair){0.0, 0.0};
}
double smelt_rt_d_asin(double x) {
  const double a = magnitude_d(x), b = a <= 1.0 ? a : 0.0;
  const Pair r = first_quadrant((Pair){b, 0.0}, other_leg(b));
  const double y = a < 0x1p-28 ? a : r.high + r.low;
  return a <= 1.0 ? with_sign_of_d(y, x) : NAN_D;
}
double smelt_rt_d_acos(double x) {
  const double a = magnitude_d(x), b = a <= 1.0 ? a : 0.0;
  Pair r = first_quadrant(other_leg(b), (Pair){b, 0.0});
  r = x < 0.0 ? add_pairs((Pair){PI_D, PI_D_LOW}, negated(r)) : r;
  return a <= 1.0 ? r.high + r.low : NAN_D;
}
