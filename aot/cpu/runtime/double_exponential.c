/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// exp, log and their kin of double, powers and roots.
#include "doubles.h"

// ---- Exponential ----------------------------------------------------------------------------------------------------

/// e^r - 1 for |r| <= 0.36, to some 2^-58 of itself.
RT_INLINE Pair expm1_short(Pair r) {
  const double x = r.high;
  double p = 1.0 / 87178291200.0;
  p = FMA_D(p, x, 1.0 / 6227020800.0);
  p = FMA_D(p, x, 1.0 / 479001600.0);
  p = FMA_D(p, x, 1.0 / 39916800.0);
  p = FMA_D(p, x, 1.0 / 3628800.0);
  p = FMA_D(p, x, 1.0 / 362880.0);
  p = FMA_D(p, x, 1.0 / 40320.0);
  p = FMA_D(p, x, 1.0 / 5040.0);
  p = FMA_D(p, x, 1.0 / 720.0);
  p = FMA_D(p, x, 1.0 / 120.0);
  p = FMA_D(p, x, 1.0 / 24.0);
  p = FMA_D(p, x, 1.0 / 6.0);
  const Pair square = product_of(x, 0.5 * x);
  const Pair first = sum_of_ordered(x, square.high);
  const double rest = FMA_D(r.low, 1.0 + x, square.low) + x * (x * x) * p;
  return sum_of_ordered(first.high, first.low + rest);
}

/// x = n ln2 + r.
typedef struct {
  Pair r;
  i32 n;
} Reduced;
RT_INLINE Reduced reduce_by_ln2(Pair x) {  // |x| < 2000
  const double n = __builtin_rint(x.high * (1.0 / LN2_D));
  const Pair rest = sum_of(FMA_D(-n, LN2_D_SHORT, x.high), -n * LN2_D_REST);
  return (Reduced){sum_of_ordered(rest.high, rest.low + x.low), integer_of_d(n)};
}

/// e^x * by; what lies outside the range gives 0 or infinity.
RT_INLINE double exp_times(Pair x, Pair by) {
  const double bound = clamp_d(x.high, -1000.0, 1000.0);
  const Reduced of = reduce_by_ln2((Pair){bound, bound == x.high ? x.low : 0.0});
  const Pair all = multiply_pairs(add_to_pair(expm1_short(of.r), 1.0), by);
  return scale_d(all.high + all.low, of.n);
}
RT_INLINE double exp_of_pair(Pair x) {
  return exp_times(x, (Pair){1.0, 0.0});
}
/// e^x - 1 as a pair, for |x| < 700.
RT_INLINE Pair expm1_of(double x) {
  const Reduced of = reduce_by_ln2((Pair){x, 0.0});
  const Pair less = expm1_short(of.r);
  const double power = power_of_two_d(of.n < -1022 ? -1022 : of.n);
  return add_to_pair((Pair){power * less.high, power * less.low}, power - 1.0);
}

double smelt_rt_d_exp(double x) {
  return exp_of_pair((Pair){x, 0.0});
}
double smelt_rt_d_exp2(double x) {
  const double bound = clamp_d(x, -1100.0, 1100.0), n = __builtin_rint(bound);
  const Pair less = expm1_short(multiply_pairs((Pair){bound - n, 0.0}, (Pair){LN2_D, LN2_D_LOW}));
  const Pair all = sum_of_ordered(1.0, less.high);
  return scale_d(all.high + (all.low + less.low), integer_of_d(n));
}
double smelt_rt_d_exp10(double x) {
  const double bound = clamp_d(x, -400.0, 400.0);
  return exp_of_pair(multiply_pairs((Pair){bound, 0.0}, (Pair){0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53}));
}
double smelt_rt_d_expm1(double x) {
  const double inner = clamp_d(x, -50.0, 600.0);
  const Pair e = expm1_of(inner);
  double r = e.high + e.low;
  r = magnitude_d(x) < 0x1p-54 ? x : r;
  return x > 600.0 ? smelt_rt_d_exp(x) : r;
}

// sinh = (E + E / (E + 1)) / 2 with E = e^|x| - 1; cosh = (e^|x| + e^-|x|) / 2. Past 600 it is e^(|x| - ln2).
double smelt_rt_d_sinh(double x) {
  const double a = magnitude_d(x);
  const Pair e = expm1_of(a < 600.0 ? a : 600.0);
  const Pair sum = add_pairs(e, divide_pairs(e, add_to_pair(e, 1.0)));
  double r = 0.5 * (sum.high + sum.low);
  r = a < 0x1p-28 ? a : r;
  const double large = exp_of_pair(add_to_pair((Pair){a, -LN2_D_LOW}, -LN2_D));
  r = a > 600.0 ? large : r;
  return a < INF_D ? with_sign_of_d(r, x) : x;
}
double smelt_rt_d_cosh(double x) {
  const double a = magnitude_d(x);
  const Pair e = add_to_pair(expm1_of(a < 600.0 ? a : 600.0), 1.0);
  const Pair sum = add_pairs(e, divide_pairs((Pair){1.0, 0.0}, e));
  const double r = 0.5 * (sum.high + sum.low);
  const double large = exp_of_pair(add_to_pair((Pair){a, -LN2_D_LOW}, -LN2_D));
  return a < INF_D ? (a > 600.0 ? large : r) : a;
}
double smelt_rt_d_tanh(double x) {
  const double a = magnitude_d(x);
  const Pair e = expm1_of(a < 30.0 ? 2.0 * a : 60.0);
  const Pair quotient = divide_pairs(e, add_to_pair(e, 2.0));
  double r = quotient.high + quotient.low;
  r = a < 0x1p-28 ? a : r;
  return x == x ? with_sign_of_d(r, x) : x;
}

// ---- Logarithm ------------------------------------------------------------------------------------------------------

/// ln((d + f) / d') of a fraction s = f / (2 + f): 2 atanh(s), to some 2^-65 of itself, for |s| <= 0.172.
RT_INLINE Pair twice_atanh(Pair s) {
  const Pair z = multiply_pairs(s, s);
  const double w = z.high;
  double p = 2.0 / 25.0;
  p = FMA_D(p, w, 2.0 / 23.0);
  p = FMA_D(p, w, 2.0 / 21.0);
  p = FMA_D(p, w, 2.0 / 19.0);
  p = FMA_D(p, w, 2.0 / 17.0);
  p = FMA_D(p, w, 2.0 / 15.0);
  p = FMA_D(p, w, 2.0 / 13.0);
  p = FMA_D(p, w, 2.0 / 11.0);
  p = FMA_D(p, w, 2.0 / 9.0);
  p = FMA_D(p, w, 2.0 / 7.0);
  const Pair third = multiply_pairs(multiply_pairs(s, z), (Pair){2.0 / 3.0, 0x1.5555555555555p-55});
  const Pair fifth = multiply_pairs(multiply_pairs(multiply_pairs(s, z), z), (Pair){0.4, -0x1.999999999999ap-56});
  const double tail = s.high * w * w * w * p;
  const Pair first = add_pairs((Pair){2.0 * s.high, 2.0 * s.low}, third);
  return add_pairs(first, add_to_pair(fifth, tail));
}

/// x = 2^e * m, m in [sqrt(1/2), sqrt(2)); for x > 0.
typedef struct {
  double m, e;
} Parts;
RT_INLINE Parts parts_of(double x) {
  const int small = x < 0x1p-1022;
  const u64 u = bits_d(small ? x * 0x1p54 : x) - 0x3fe6a09e667f3bcdull;
  const double m = from_bits_d((u & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  return (Parts){m, (double)(i32)((i64)u >> 52) - (small ? 54.0 : 0.0)};
}
/// ln(m + low), m as above.
RT_INLINE Pair log_of_part(double m, double low) {
  return twice_atanh(divide_pairs(add_to_pair((Pair){m - 1.0, 0.0}, low), add_to_pair(sum_of(m, 1.0), low)));
}
RT_INLINE Pair log_of_pair(Pair x) {  // 0 < x < infinity
  const Parts of = parts_of(x.high);
  const double low = x.low * (of.m / x.high);
  const Pair exponent = sum_of_ordered(of.e * LN2_D_SHORT, of.e * LN2_D_REST);
  const Pair rest = {exponent.high, FMA_D(of.e, -0x1.8cff81a12a17ep-85, exponent.low)};
  return add_pairs(rest, log_of_part(of.m, x.low == 0.0 ? 0.0 : low));
}
/// C99's values outside of (0, infinity).
RT_INLINE double log_special_d(double x, double r) {
  r = x == INF_D ? x : r;
  r = x == 0.0 ? -INF_D : r;
  return x >= 0.0 ? r : NAN_D;
}
RT_INLINE double inside_d(double x) {
  return ((x > 0.0) & (x < INF_D)) ? x : 1.0;
}

double smelt_rt_d_log(double x) {
  const Pair r = log_of_pair((Pair){inside_d(x), 0.0});
  return log_special_d(x, r.high + r.low);
}
RT_INLINE double log_to_base(double x, Pair per_ln, Pair of_two) {
  const Parts of = parts_of(inside_d(x));
  const Pair part = multiply_pairs(log_of_part(of.m, 0.0), per_ln);
  const Pair exponent = multiply_pairs((Pair){of.e, 0.0}, of_two);
  const Pair r = add_pairs(exponent, part);
  return log_special_d(x, r.high + r.low);
}
double smelt_rt_d_log2(double x) {
  return log_to_base(x, (Pair){0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}, (Pair){1.0, 0.0});
}
double smelt_rt_d_log10(double x) {
  return log_to_base(x, (Pair){0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57},
                     (Pair){0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59});
}
RT_INLINE Pair log1p_of_pair(Pair x) {  // -1 < x < infinity
  const Pair sum = sum_of(x.high, 1.0);
  const Pair far = log_of_pair(add_to_pair(sum, x.low));
  const int is_near = (x.high > -0.29) & (x.high < 0.41);
  const Pair inner = is_near ? x : (Pair){0.0, 0.0};
  const Pair near = twice_atanh(divide_pairs(inner, add_to_pair(inner, 2.0)));
  return is_near ? near : far;
}
double smelt_rt_d_log1p(double x) {
  const Pair r = log1p_of_pair((Pair){((x > -1.0) & (x < INF_D)) ? x : 0.0, 0.0});
  double y = magnitude_d(x) < 0x1p-54 ? x : r.high + r.low;
  y = x == INF_D ? x : y;
  y = x == -1.0 ? -INF_D : y;
  return x >= -1.0 ? y : NAN_D;
}
double smelt_rt_d_asinh(double x) {
  const double a = magnitude_d(x), b = a < 0x1p100 ? a : 0x1p100;
  const Pair square = product_of(b, b);
  const Pair root = root_of_pair(add_to_pair(square, 1.0));
  const Pair r = log1p_of_pair(add_to_pair(divide_pairs(square, add_to_pair(root, 1.0)), b));
  const Pair large =
      add_pairs(log_of_pair((Pair){a < INF_D ? (a > 1.0 ? a : 1.0) : 1.0, 0.0}), (Pair){LN2_D, LN2_D_LOW});
  double y = a < 0x1p100 ? r.high + r.low : large.high + large.low;
  y = a < 0x1p-28 ? a : y;
  return a < INF_D ? with_sign_of_d(y, x) : x;
}
double smelt_rt_d_acosh(double x) {
  const double b = x >= 1.0 ? (x < 0x1p100 ? x : 0x1p100) : 1.0;
  const double less = b - 1.0;  // exact below 2^53
  const Pair product = multiply_pairs(sum_of(b, -1.0), sum_of(b, 1.0));
  const Pair root = product.high > 0.0 ? root_of_pair(product) : (Pair){0.0, 0.0};
  const Pair r = log1p_of_pair(add_to_pair(root, less));
  const Pair large =
      add_pairs(log_of_pair((Pair){x < INF_D ? b > x ? b : (x > 1.0 ? x : 1.0) : 1.0, 0.0}), (Pair){LN2_D, LN2_D_LOW});
  double y = x < 0x1p100 ? r.high + r.low : large.high + large.low;
  y = x == INF_D ? x : y;
  return x >= 1.0 ? y : NAN_D;
}
double smelt_rt_d_atanh(double x) {
  const double a = magnitude_d(x), b = a < 1.0 ? a : 0.0;
  const Pair r = log1p_of_pair(divide_pairs((Pair){2.0 * b, 0.0}, sum_of(1.0, -b)));
  double y = a < 0x1p-28 ? a : 0.5 * (r.high + r.low);
  y = a == 1.0 ? INF_D : y;
  return a <= 1.0 ? with_sign_of_d(y, x) : NAN_D;
}

// ---- Power, roots ---------------------------------------------------------------------------------------------------

double smelt_rt_d_pow(double x, double y) {
  const double a = magnitude_d(x);
  const Pair l = log_of_pair((Pair){inside_d(a), 0.0});
  const double bound = clamp_d(y, -0x1p80, 0x1p80);
  const Pair p = product_of(l.high, bound);
  double r = exp_of_pair((Pair){p.high, FMA_D(l.low, bound, p.low)});
  // x is 0 or infinite
  const int grows = (a > 1.0) == (y > 0.0);
  r = ((a == 0.0) | (a == INF_D)) ? (grows ? INF_D : 0.0) : r;
  r = (magnitude_d(y) == INF_D) ? (a == 1.0 ? 1.0 : (grows ? INF_D : 0.0)) : r;
  const int whole = __builtin_trunc(y) == y;
  const double half = 0.5 * y;
  const int odd = whole & (magnitude_d(y) < 0x1p53) & (__builtin_trunc(half) != half);
  const int negative = (i64)bits_d(x) < 0;
  r = (negative & odd) ? -r : r;
  r = ((x < 0.0) & !whole & (a < INF_D)) ? NAN_D : r;
  r = ((x != x) | (y != y)) ? NAN_D : r;
  return ((x == 1.0) | (y == 0.0)) ? 1.0 : r;
}
double smelt_rt_d_rsqrt(double x) {
  const double y = 1.0 / __builtin_sqrt(x);
  const double p = x * y, p_low = FMA_D(x, y, -p);
  const double residual = FMA_D(-p_low, y, FMA_D(-p, y, 1.0));
  const double better = FMA_D(0.5 * y, residual, y);
  return ((y > 0.0) & (y < INF_D) & (p < INF_D)) ? better : y;
}
double smelt_rt_d_cbrt(double x) {
  const double a = magnitude_d(x);
  const Parts of = parts_of(inside_d(a));
  const double third = __builtin_floor(of.e * (1.0 / 3.0) + 0.1);
  const double m = of.m * power_of_two_d(integer_of_d(of.e - 3.0 * third));  // in [0.7, 5.7)
  const Pair l = log_of_pair((Pair){m, 0.0});
  const double y = exp_of_pair((Pair){l.high * (1.0 / 3.0), 0.0});
  const Pair cube = multiply_pairs(product_of(y, y), (Pair){y, 0.0});
  const double rest = (m - cube.high) - cube.low;
  const double r = scale_d(FMA_D(rest, 1.0 / (3.0 * y * y), y), integer_of_d(third));
  return ((a > 0.0) & (a < INF_D)) ? with_sign_of_d(r, x) : x;
}
double smelt_rt_d_hypot(double x, double y) {
  const double a = magnitude_d(x), b = magnitude_d(y), large = a > b ? a : b, small = a > b ? b : a;
  const int is_far = large > 0x1p500, is_tiny = large < 0x1p-480;
  const double by = is_far ? 0x1p-600 : is_tiny ? 0x1p540 : 1.0, back = is_far ? 0x1p600 : is_tiny ? 0x1p-540 : 1.0;
  const double l = large * by, s = small * by;
  const Pair root = root_of_pair(add_pairs(product_of(l, l), product_of(s, s)));
  double r = l > 0.0 ? (root.high + root.low) * back : 0.0;
  r = large + small == large ? large : r;
  r = ((x != x) | (y != y)) ? NAN_D : r;
  return ((a == INF_D) | (b == INF_D)) ? INF_D : r;
}
