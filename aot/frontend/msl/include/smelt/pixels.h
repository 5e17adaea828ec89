/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Pixel data types (Metal Shading Language Specification 2.7): values that lie in memory as a texture's format has
// them. A load converts to T, a store from T; there is no arithmetic on them. Each is one word here, converted by
// <metal_pack>; that Apple's compiler calls the same operations is inferred.
#ifndef __SMELT_PIXELS_H
#define __SMELT_PIXELS_H

#include <metal_pack>

namespace metal {

namespace __pixel {

__SMELT_INLINE uchar to_r8u(float v) {
  return uchar(pack_float_to_unorm4x8(float4(v, 0, 0, 0)));
}
__SMELT_INLINE float of_r8u(uchar k) {
  return unpack_unorm4x8_to_float(k).x;
}
__SMELT_INLINE uchar to_r8s(float v) {
  return uchar(pack_float_to_snorm4x8(float4(v, 0, 0, 0)));
}
__SMELT_INLINE float of_r8s(uchar k) {
  return unpack_snorm4x8_to_float(k).x;
}
__SMELT_INLINE ushort to_r16u(float v) {
  return ushort(pack_float_to_unorm2x16(float2(v, 0)));
}
__SMELT_INLINE float of_r16u(ushort k) {
  return unpack_unorm2x16_to_float(k).x;
}
__SMELT_INLINE ushort to_r16s(float v) {
  return ushort(pack_float_to_snorm2x16(float2(v, 0)));
}
__SMELT_INLINE float of_r16s(ushort k) {
  return unpack_snorm2x16_to_float(k).x;
}
__SMELT_INLINE ushort to_rg8u(float2 v) {
  return ushort(pack_float_to_unorm4x8(float4(v, 0, 0)));
}
__SMELT_INLINE float2 of_rg8u(ushort k) {
  return unpack_unorm4x8_to_float(k).xy;
}
__SMELT_INLINE ushort to_rg8s(float2 v) {
  return ushort(pack_float_to_snorm4x8(float4(v, 0, 0)));
}
__SMELT_INLINE float2 of_rg8s(ushort k) {
  return unpack_snorm4x8_to_float(k).xy;
}
__SMELT_INLINE ulong to_rgba16u(float4 v) {
  return pack_float_to_unorm2x16(v.xy) | ulong(pack_float_to_unorm2x16(v.zw)) << 32;
}
__SMELT_INLINE float4 of_rgba16u(ulong k) {
  return float4(unpack_unorm2x16_to_float(uint(k)), unpack_unorm2x16_to_float(uint(k >> 32)));
}
__SMELT_INLINE ulong to_rgba16s(float4 v) {
  return pack_float_to_snorm2x16(v.xy) | ulong(pack_float_to_snorm2x16(v.zw)) << 32;
}
__SMELT_INLINE float4 of_rgba16s(ulong k) {
  return float4(unpack_snorm2x16_to_float(uint(k)), unpack_snorm2x16_to_float(uint(k >> 32)));
}

/// To the nearest even whole number, of a float from 0 to 2^22.
__SMELT_INLINE uint whole(float x) {
  return uint(__builtin_bit_cast(int, x + 0x1p23f) - 0x4b000000);
}

/// A float without sign, of `mantissa` bits and five of exponent: negative is 0, too large is the largest.
__SMELT_INLINE uint to_small(float x, uint mantissa) {
  const uint infinite = 31u << mantissa, bits = __builtin_bit_cast(uint, x), shift = 23 - mantissa;
  if ((bits & 0x7fffffff) > 0x7f800000) return infinite | 1;
  if (bits == 0x7f800000) return infinite;
  if (bits == 0 || bits >> 31 != 0) return 0;
  uint rounded;
  if (x < 0x1p-14f)
    rounded = whole(x * __builtin_bit_cast(float, (127 + 14 + mantissa) << 23));
  else
    rounded = ((bits + ((1u << (shift - 1)) - 1) + ((bits >> shift) & 1)) >> shift) - (112u << mantissa);
  return rounded >= infinite ? infinite - 1 : rounded;
}
__SMELT_INLINE float of_small(uint k, uint mantissa) {
  return float(as_type<half>(ushort(k << (10 - mantissa))));
}
__SMELT_INLINE uint to_rg11b10f(float3 v) {
  return to_small(v.x, 6) | to_small(v.y, 6) << 11 | to_small(v.z, 5) << 22;
}
__SMELT_INLINE float3 of_rg11b10f(uint k) {
  return float3(of_small(k & 2047, 6), of_small(k >> 11 & 2047, 6), of_small(k >> 22, 5));
}

__SMELT_INLINE float shared_clamp(float x) {
  return x > 0.0f ? (x < 65408.0f ? x : 65408.0f) : 0.0f;
}
__SMELT_INLINE uint to_rgb9e5(float3 v) {
  const float r = shared_clamp(v.x), g = shared_clamp(v.y), b = shared_clamp(v.z);
  const float rg = r > g ? r : g, most = rg > b ? rg : b;
  int exponent = (__builtin_bit_cast(int, most) >> 23) - 127 + 1 + 15;
  if (exponent < 0) exponent = 0;
  float scale = __builtin_bit_cast(float, (127 - (exponent - 15 - 9)) << 23);
  if (whole(most * scale) == 512) {
    ++exponent;
    scale *= 0.5f;
  }
  return whole(r * scale) | whole(g * scale) << 9 | whole(b * scale) << 18 | uint(exponent) << 27;
}
__SMELT_INLINE float3 of_rgb9e5(uint k) {
  const float scale = __builtin_bit_cast(float, ((k >> 27) + 127 - 15 - 9) << 23);
  return float3(float(k & 511), float(k >> 9 & 511), float(k >> 18 & 511)) * scale;
}

}  // namespace __pixel

// Name, the word in memory, the values that it is of, and how it is converted.
#define __SMELT_PIXEL_OF(name, K, F, wanted, pack, unpack)   \
  template <class T>                                         \
    requires(wanted)                                         \
  struct name {                                              \
    K __bits;                                                \
    name() = default;                                        \
    name(const name&) = default;                             \
    __SMELT_INLINE name(T value) : __bits(pack(F(value))) {} \
    __SMELT_INLINE operator T() const {                      \
      return T(unpack(__bits));                              \
    }                                                        \
  };
#define __SMELT_PIXEL(name, K, F, H, pack, unpack) \
  __SMELT_PIXEL_OF(name, K, F, (__is_same(T, F) || __is_same(T, H)), pack, unpack)
#define __SMELT_WIDE_PIXEL(name, K, F, pack, unpack) __SMELT_PIXEL_OF(name, K, F, __is_same(T, F), pack, unpack)
__SMELT_PIXEL(r8unorm, uchar, float, half, __pixel::to_r8u, __pixel::of_r8u)
__SMELT_PIXEL(r8snorm, uchar, float, half, __pixel::to_r8s, __pixel::of_r8s)
__SMELT_WIDE_PIXEL(r16unorm, ushort, float, __pixel::to_r16u, __pixel::of_r16u)
__SMELT_WIDE_PIXEL(r16snorm, ushort, float, __pixel::to_r16s, __pixel::of_r16s)
__SMELT_PIXEL(rg8unorm, ushort, float2, half2, __pixel::to_rg8u, __pixel::of_rg8u)
__SMELT_PIXEL(rg8snorm, ushort, float2, half2, __pixel::to_rg8s, __pixel::of_rg8s)
__SMELT_WIDE_PIXEL(rg16unorm, uint, float2, pack_float_to_unorm2x16, unpack_unorm2x16_to_float)
__SMELT_WIDE_PIXEL(rg16snorm, uint, float2, pack_float_to_snorm2x16, unpack_snorm2x16_to_float)
__SMELT_PIXEL(rgba8unorm, uint, float4, half4, pack_float_to_unorm4x8, unpack_unorm4x8_to_float)
__SMELT_PIXEL(rgba8snorm, uint, float4, half4, pack_float_to_snorm4x8, unpack_snorm4x8_to_float)
__SMELT_PIXEL(srgba8unorm, uint, float4, half4, pack_float_to_srgb_unorm4x8, unpack_unorm4x8_srgb_to_float)
__SMELT_WIDE_PIXEL(rgba16unorm, ulong, float4, __pixel::to_rgba16u, __pixel::of_rgba16u)
__SMELT_WIDE_PIXEL(rgba16snorm, ulong, float4, __pixel::to_rgba16s, __pixel::of_rgba16s)
__SMELT_PIXEL(rgb10a2, uint, float4, half4, pack_float_to_unorm10a2, unpack_unorm10a2_to_float)
__SMELT_PIXEL(rg11b10f, uint, float3, half3, __pixel::to_rg11b10f, __pixel::of_rg11b10f)
__SMELT_PIXEL(rgb9e5, uint, float3, half3, __pixel::to_rgb9e5, __pixel::of_rgb9e5)
#undef __SMELT_WIDE_PIXEL
#undef __SMELT_PIXEL
#undef __SMELT_PIXEL_OF

}  // namespace metal

#endif
