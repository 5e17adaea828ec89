/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// <simd/simd.h>: shared headers include it for the vector types, which are part of the language here.
#ifndef __SIMD_SIMD_H
#define __SIMD_SIMD_H

#include <metal_stdlib>

// clang-format off
#define __SMELT_SIMD_TYPES(T, name) \
  typedef T##2 name##2; typedef T##3 name##3; typedef T##4 name##4;
namespace simd {
__SMELT_SIMD_TYPES(char, char)
__SMELT_SIMD_TYPES(uchar, uchar)
__SMELT_SIMD_TYPES(short, short)
__SMELT_SIMD_TYPES(ushort, ushort)
__SMELT_SIMD_TYPES(int, int)
__SMELT_SIMD_TYPES(uint, uint)
__SMELT_SIMD_TYPES(half, half)
__SMELT_SIMD_TYPES(float, float)
typedef float2x2 float2x2; typedef float3x3 float3x3; typedef float4x4 float4x4;
}  // namespace simd
__SMELT_SIMD_TYPES(char, simd_char)
__SMELT_SIMD_TYPES(uchar, simd_uchar)
__SMELT_SIMD_TYPES(short, simd_short)
__SMELT_SIMD_TYPES(ushort, simd_ushort)
__SMELT_SIMD_TYPES(int, simd_int)
__SMELT_SIMD_TYPES(uint, simd_uint)
__SMELT_SIMD_TYPES(half, simd_half)
__SMELT_SIMD_TYPES(float, simd_float)
typedef float2x2 simd_float2x2; typedef float3x3 simd_float3x3; typedef float4x4 simd_float4x4;
#undef __SMELT_SIMD_TYPES
// clang-format on

#endif
