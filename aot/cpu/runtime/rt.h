/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// What all files of the runtime share. Rules of this folder:
//   * one scalar function per operation, free of branches where that is possible: after inlining, the loop vectoriser
//     and the lane vectoriser widen it to any width;
//   * nothing external: no libm, no memcpy, no tables in memory (a table is a gather to a vectoriser);
//   * float in, float out; double only inside, where float would need more operations than it saves;
//   * NaN in gives NaN out; never a float-to-integer conversion of a value that may be NaN or too large, because
//     that is poison in LLVM. rint_magic gives integers without a conversion;
//   * right whether the processor flushes denormals (kernels run so) or not.
// Contraction is off: every fused operation is written as FMA. Accuracy: docs/design/cpu-math.md. Coefficients:
// coefficients.py.
#ifndef SMELT_RT_H
#define SMELT_RT_H

typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
_Static_assert(sizeof(i32) == 4 && sizeof(i64) == 8, "fixed widths");

#define RT_INLINE static inline __attribute__((always_inline))
#define FMA __builtin_fmaf
#define FMA_D __builtin_fma
#define INF __builtin_inff()
#define QUIET_NAN __builtin_nanf("")

RT_INLINE u32 bits(float x) {
  u32 u;
  __builtin_memcpy(&u, &x, 4);
  return u;
}
RT_INLINE float from_bits(u32 u) {
  float x;
  __builtin_memcpy(&x, &u, 4);
  return x;
}
RT_INLINE u64 bits_d(double x) {
  u64 u;
  __builtin_memcpy(&u, &x, 8);
  return u;
}
RT_INLINE double from_bits_d(u64 u) {
  double x;
  __builtin_memcpy(&x, &u, 8);
  return x;
}
RT_INLINE float magnitude(float x) {
  return __builtin_fabsf(x);
}
RT_INLINE float with_sign_of(float x, float sign) {
  return __builtin_copysignf(x, sign);
}

// Adding 1.5 * 2^23 leaves rint(x) in the low mantissa bits, for |x| < 2^22; any other x gives a harmless integer.
#define MAGIC 0x1.8p23f
#define MAGIC_BITS 0x4b400000
#define MAGIC_D 0x1.8p52

typedef struct {
  float whole;
  i32 integer;
} Rounded;
/// rint(x * factor), as float and as integer.
RT_INLINE Rounded rint_magic(float x, float factor) {
  const float t = FMA(x, factor, MAGIC);
  return (Rounded){t - MAGIC, (i32)(bits(t) - MAGIC_BITS)};
}

/// p * 2^n for |n| <= 252, in two steps: right for results below the normal range and for n = 128.
RT_INLINE float scale(float p, i32 n) {
  const i32 half = n >> 1;
  return p * from_bits((u32)(half + 127) << 23) * from_bits((u32)(n - half + 127) << 23);
}

// x = 2^e * (1 + f), 1 + f in [sqrt(1/2), sqrt(2)); for x > 0. Denormals are scaled first.
typedef struct {
  float f;
  float e;
} LogParts;
RT_INLINE LogParts log_parts(float x) {
  const int small = x < 0x1p-126f;
  const u32 u = bits(small ? x * 0x1p24f : x) - 0x3f3504f3;
  const float m = from_bits((u & 0x7fffff) + 0x3f3504f3);
  return (LogParts){m - 1.0f, (float)((i32)u >> 23) - (small ? 24.0f : 0.0f)};
}

// Shared between files.
float smelt_rt_exp(float x);
float smelt_rt_log2(float x);
float smelt_rt_powr(float x, float y);

#endif
