/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// <simd/simd.h>: the names that headers shared with a program on the CPU give to vectors, matrices and quaternions. The
// types are the language's own here. Of each vector there are three names, vector_float2, simd_float2 and simd::float2;
// those of more than four components are storage (smelt/vector.h).
#ifndef __SIMD_SIMD_H
#define __SIMD_SIMD_H

#include <metal_stdlib>

// clang-format off
#define __SMELT_SIMD_VECTOR(T, N) \
  typedef metal::vec<T, N> vector_##T##N; \
  typedef metal::vec<T, N> simd_##T##N; \
  namespace simd { typedef metal::vec<T, N> T##N; }
#define __SMELT_SIMD_PACKED(T, N) \
  typedef metal::packed_vec<T, N> simd_packed_##T##N; \
  namespace simd { typedef metal::packed_vec<T, N> packed_##T##N; }
#define __SMELT_SIMD_TYPES(T) \
  typedef T simd_##T##1; \
  namespace simd { typedef T T##1; } \
  __SMELT_SIMD_VECTOR(T, 2) __SMELT_SIMD_VECTOR(T, 3) __SMELT_SIMD_VECTOR(T, 4) __SMELT_SIMD_VECTOR(T, 8) \
  __SMELT_SIMD_PACKED(T, 2) __SMELT_SIMD_PACKED(T, 4)
#define __SMELT_SIMD_16(T) __SMELT_SIMD_VECTOR(T, 16)
#define __SMELT_SIMD_32(T) __SMELT_SIMD_16(T) __SMELT_SIMD_VECTOR(T, 32)
#define __SMELT_SIMD_64(T) __SMELT_SIMD_32(T) __SMELT_SIMD_VECTOR(T, 64)
__SMELT_SIMD_TYPES(char) __SMELT_SIMD_64(char)
__SMELT_SIMD_TYPES(uchar) __SMELT_SIMD_64(uchar)
__SMELT_SIMD_TYPES(short) __SMELT_SIMD_32(short)
__SMELT_SIMD_TYPES(ushort) __SMELT_SIMD_32(ushort)
__SMELT_SIMD_TYPES(half) __SMELT_SIMD_32(half)
__SMELT_SIMD_TYPES(int) __SMELT_SIMD_16(int)
__SMELT_SIMD_TYPES(uint) __SMELT_SIMD_16(uint)
__SMELT_SIMD_TYPES(float) __SMELT_SIMD_16(float)
__SMELT_SIMD_TYPES(long)
__SMELT_SIMD_TYPES(ulong)

#define __SMELT_SIMD_MATRIX(T, C, R) \
  typedef metal::matrix<T, C, R> matrix_##T##C##x##R; \
  typedef metal::matrix<T, C, R> simd_##T##C##x##R; \
  namespace simd { typedef metal::matrix<T, C, R> T##C##x##R; }
#define __SMELT_SIMD_MATRICES(T) \
  __SMELT_SIMD_MATRIX(T, 2, 2) __SMELT_SIMD_MATRIX(T, 2, 3) __SMELT_SIMD_MATRIX(T, 2, 4) \
  __SMELT_SIMD_MATRIX(T, 3, 2) __SMELT_SIMD_MATRIX(T, 3, 3) __SMELT_SIMD_MATRIX(T, 3, 4) \
  __SMELT_SIMD_MATRIX(T, 4, 2) __SMELT_SIMD_MATRIX(T, 4, 3) __SMELT_SIMD_MATRIX(T, 4, 4)
__SMELT_SIMD_MATRICES(half)
__SMELT_SIMD_MATRICES(float)
    // clang-format on

    /// Imaginary parts in x, y and z, the real one in w.
    typedef struct {
  metal::vec<half, 4> vector;
} simd_quath;
typedef struct {
  metal::vec<float, 4> vector;
} simd_quatf;

#undef __SMELT_SIMD_MATRICES
#undef __SMELT_SIMD_MATRIX
#undef __SMELT_SIMD_64
#undef __SMELT_SIMD_32
#undef __SMELT_SIMD_16
#undef __SMELT_SIMD_TYPES
#undef __SMELT_SIMD_PACKED
#undef __SMELT_SIMD_VECTOR

#endif
