/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Names inside Apple's compiler that public kernels call (docs/formats/metal-language.md 6): MLX's bf16_math.h and what
// was made of it.
#ifndef __SMELT_INTERNAL_NAMES_H
#define __SMELT_INTERNAL_NAMES_H

#include <metal_common>
#include <metal_quadgroup>
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>

/// The last operand of the math functions below.
#define __METAL_PRECISE_MATH__ 0
#define __METAL_FAST_MATH__ 1
#define __METAL_MAYBE_FAST_MATH__ 2

#define __SMELT_CHOOSE(mode, call) \
  mode == __METAL_PRECISE_MATH__ ? metal::precise::call : mode == __METAL_FAST_MATH__ ? metal::fast::call : metal::call
#define __SMELT_INTERNAL_1(name)                           \
  __SMELT_INLINE float __metal_##name(float a, int mode) { \
    return __SMELT_CHOOSE(mode, name(a));                  \
  }                                                        \
  __SMELT_INLINE half __metal_##name(half a, int) {        \
    return metal::name(a);                                 \
  }
#define __SMELT_INTERNAL_2(name)                                    \
  __SMELT_INLINE float __metal_##name(float a, float b, int mode) { \
    return __SMELT_CHOOSE(mode, name(a, b));                        \
  }                                                                 \
  __SMELT_INLINE half __metal_##name(half a, half b, int) {         \
    return metal::name(a, b);                                       \
  }
#define __SMELT_INTERNAL_3(name)                                             \
  __SMELT_INLINE float __metal_##name(float a, float b, float c, int mode) { \
    return __SMELT_CHOOSE(mode, name(a, b, c));                              \
  }                                                                          \
  __SMELT_INLINE half __metal_##name(half a, half b, half c, int) {          \
    return metal::name(a, b, c);                                             \
  }
__SMELT_INTERNAL_1(acos)
__SMELT_INTERNAL_1(acosh)
__SMELT_INTERNAL_1(asin)
__SMELT_INTERNAL_1(asinh)
__SMELT_INTERNAL_1(atan)
__SMELT_INTERNAL_1(atanh)
__SMELT_INTERNAL_1(ceil)
__SMELT_INTERNAL_1(cos)
__SMELT_INTERNAL_1(cosh)
__SMELT_INTERNAL_1(cospi)
__SMELT_INTERNAL_1(exp)
__SMELT_INTERNAL_1(exp10)
__SMELT_INTERNAL_1(exp2)
__SMELT_INTERNAL_1(fabs)
__SMELT_INTERNAL_1(floor)
__SMELT_INTERNAL_1(fract)
__SMELT_INTERNAL_1(log)
__SMELT_INTERNAL_1(log10)
__SMELT_INTERNAL_1(log2)
__SMELT_INTERNAL_1(rint)
__SMELT_INTERNAL_1(round)
__SMELT_INTERNAL_1(rsqrt)
__SMELT_INTERNAL_1(sin)
__SMELT_INTERNAL_1(sinh)
__SMELT_INTERNAL_1(sinpi)
__SMELT_INTERNAL_1(sqrt)
__SMELT_INTERNAL_1(tan)
__SMELT_INTERNAL_1(tanh)
__SMELT_INTERNAL_1(tanpi)
__SMELT_INTERNAL_1(trunc)
__SMELT_INTERNAL_1(saturate)
__SMELT_INTERNAL_2(atan2)
__SMELT_INTERNAL_2(divide)
__SMELT_INTERNAL_2(fmax)
__SMELT_INTERNAL_2(fmin)
__SMELT_INTERNAL_2(fmod)
__SMELT_INTERNAL_2(pow)
__SMELT_INTERNAL_2(powr)
__SMELT_INTERNAL_3(clamp)
__SMELT_INTERNAL_3(fmax3)
__SMELT_INTERNAL_3(fmedian3)
__SMELT_INTERNAL_3(fmin3)
#undef __SMELT_INTERNAL_3
#undef __SMELT_INTERNAL_2
#undef __SMELT_INTERNAL_1

__SMELT_INLINE float __metal_ldexp(float x, int k, int mode) {
  return __SMELT_CHOOSE(mode, ldexp(x, k));
}
#undef __SMELT_CHOOSE
__SMELT_INLINE float __metal_fma(float a, float b, float c) {
  return metal::fma(a, b, c);
}
__SMELT_INLINE half __metal_fma(half a, half b, half c) {
  return metal::fma(a, b, c);
}
__SMELT_INLINE float __metal_frexp(float x, int* exponent) {
  return metal::frexp(x, *exponent);
}
#if __METAL_VERSION__ >= 310
__SMELT_INLINE float __metal_nextafter(float x, float y) {
  return metal::nextafter(x, y);
}
#endif

// ---- Lanes

#define __SMELT_INTERNAL_LANES(name)             \
  template <class T>                             \
  __SMELT_INLINE T __metal_simd_##name(T data) { \
    return metal::simd_##name(data);             \
  }
#define __SMELT_INTERNAL_SHUFFLE(name)                        \
  template <class T>                                          \
  __SMELT_INLINE T __metal_simd_##name(T data, ushort lane) { \
    return metal::simd_##name(data, lane);                    \
  }
#define __SMELT_INTERNAL_FILL(name)                                                      \
  template <class T>                                                                     \
  __SMELT_INLINE T __metal_simd_##name(T data, T filling, ushort delta, ushort modulo) { \
    return metal::simd_##name(data, filling, delta, modulo);                             \
  }
__SMELT_INTERNAL_LANES(sum)
__SMELT_INTERNAL_LANES(product)
__SMELT_INTERNAL_LANES(min)
__SMELT_INTERNAL_LANES(max)
__SMELT_INTERNAL_LANES(and)
__SMELT_INTERNAL_LANES(or)
__SMELT_INTERNAL_LANES(prefix_inclusive_sum)
__SMELT_INTERNAL_LANES(prefix_exclusive_sum)
__SMELT_INTERNAL_LANES(prefix_inclusive_product)
__SMELT_INTERNAL_LANES(prefix_exclusive_product)
__SMELT_INTERNAL_LANES(broadcast_first)
__SMELT_INTERNAL_SHUFFLE(shuffle)
__SMELT_INTERNAL_SHUFFLE(shuffle_up)
__SMELT_INTERNAL_SHUFFLE(shuffle_down)
__SMELT_INTERNAL_SHUFFLE(shuffle_xor)
__SMELT_INTERNAL_SHUFFLE(shuffle_rotate_up)
__SMELT_INTERNAL_SHUFFLE(shuffle_rotate_down)
__SMELT_INTERNAL_SHUFFLE(broadcast)
__SMELT_INTERNAL_FILL(shuffle_and_fill_up)
__SMELT_INTERNAL_FILL(shuffle_and_fill_down)
#undef __SMELT_INTERNAL_FILL
#undef __SMELT_INTERNAL_SHUFFLE
#undef __SMELT_INTERNAL_LANES
/// MLX's bf16_math.h calls it for bfloat too, in a function that nobody calls: any value does.
template <class T>
__SMELT_INLINE T __metal_simd_xor(T data) {
  if constexpr (__is_integral(T))
    return metal::simd_xor(data);
  else
    return data;
}

/// D = A * B + C of SIMD-group matrices, as the values that AIR knows: metal-flash-attention keeps them itself.
template <class D, class A, class B>
__SMELT_INLINE metal::vec<D, 64> __metal_simdgroup_matrix_8x8_multiply_accumulate(metal::vec<A, 64> a,
                                                                                  metal::vec<B, 64> b,
                                                                                  metal::vec<D, 64> c,
                                                                                  metal::vec<D, 64>) {
  return metal::vec<D, 64>(metal::__air::matrix_multiply_accumulate(a.__v, b.__v, c.__v), metal::__raw());
}

namespace metal::__air {
uint threads_of_simdgroup() __SMELT_PURE __asm("smelt.builtin.threads_per_simdgroup");
}
/// The operand only says which type is wanted.
__SMELT_INLINE ushort __metal_get_thread_index_in_simdgroup(ushort) {
  return ushort(metal::__air::lane_of_simdgroup());
}
__SMELT_INLINE ushort __metal_get_simdgroup_size(ushort) {
  return ushort(metal::__air::threads_of_simdgroup());
}

/// Atomic loads as MLX's fence kernel spells them.
template <class T>
__SMELT_INLINE T __metal_atomic_load_explicit(const volatile SMELT_DEVICE T* object, int order, int scope) {
  return metal::__air::atomic_load(object, order, scope, true);
}

#endif
