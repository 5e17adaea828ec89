/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// sampler: an argument's handle, or a state that is known when the kernel is compiled. Both are 64 bits, as in an
// argument buffer; of a state the highest is set, which no handle has (docs/formats/air.md 3.11). sampler_of gives
// either kind its handle (legalise/sampler_handles.hpp).
#ifndef __SMELT_SAMPLER_H
#define __SMELT_SAMPLER_H

#include <smelt/texture_operations.h>

namespace metal {

namespace __air {
__sampler sampler_of(ulong) __SMELT_PURE __asm("smelt.air.sampler");
}

enum class coord { normalized, pixel };
enum class address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class s_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class t_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class r_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class filter { nearest, linear };
enum class mag_filter { nearest, linear };
enum class min_filter { nearest, linear };
enum class mip_filter { none, nearest, linear };
enum class compare_func { none, less, less_equal, greater, greater_equal, equal, not_equal, always, never };
enum class border_color { transparent_black, opaque_black, opaque_white };
struct max_anisotropy {
  int __n;
  explicit constexpr max_anisotropy(int n) : __n(n) {}
};
struct lod_clamp {
  float __low, __high;
  constexpr lod_clamp(float low, float high) : __low(low), __high(high) {}
};

struct sampler {
  ulong __state = 0;

  sampler() = default;
  sampler(const sampler&) = default;
  sampler& operator=(const sampler&) = default;
  template <class First, class... Rest>
    requires(!__is_same(__remove_cvref(First), sampler))
  constexpr explicit sampler(First first, Rest... rest) : __state(__plain) {
    __set(first);
    (__set(rest), ...);
  }

  __SMELT_INLINE __air::__sampler __get() const { return __air::sampler_of(__state); }

  /// Every default: clamped to the edge, nearest, compared never, levels from 0 to the largest half.
  static constexpr ulong __plain = 0x807bff0000080049ul;

 private:
  __SMELT_INLINE constexpr void __put(int at, int bits, ulong value) {
    const ulong mask = ((1ul << bits) - 1) << at;
    __state = (__state & ~mask) | ((value << at) & mask);
  }
  static __SMELT_INLINE constexpr ulong __half(float value) {
    return __builtin_bit_cast(ushort, static_cast<half>(value > 65504.0f ? 65504.0f : value));
  }
  __SMELT_INLINE constexpr void __set(coord value) { __put(15, 1, static_cast<ulong>(value)); }
  __SMELT_INLINE constexpr void __set(s_address value) { __put(0, 3, static_cast<ulong>(value)); }
  __SMELT_INLINE constexpr void __set(t_address value) { __put(3, 3, static_cast<ulong>(value)); }
  __SMELT_INLINE constexpr void __set(r_address value) { __put(6, 3, static_cast<ulong>(value)); }
  __SMELT_INLINE constexpr void __set(address value) { __put(0, 9, static_cast<ulong>(value) * 0x49); }
  __SMELT_INLINE constexpr void __set(mag_filter value) { __put(9, 2, static_cast<ulong>(value)); }
  __SMELT_INLINE constexpr void __set(min_filter value) { __put(11, 2, static_cast<ulong>(value)); }
  __SMELT_INLINE constexpr void __set(filter value) { __put(9, 4, static_cast<ulong>(value) * 5); }
  __SMELT_INLINE constexpr void __set(mip_filter value) { __put(13, 2, static_cast<ulong>(value)); }
  __SMELT_INLINE constexpr void __set(compare_func value) { __put(16, 4, static_cast<ulong>(value)); }
  __SMELT_INLINE constexpr void __set(border_color value) { __put(56, 2, static_cast<ulong>(value)); }
  __SMELT_INLINE constexpr void __set(max_anisotropy value) { __put(20, 4, static_cast<ulong>(value.__n - 1)); }
  __SMELT_INLINE constexpr void __set(lod_clamp value) {
    __put(24, 16, __half(value.__low));
    __put(40, 16, __half(value.__high));
  }
};

// How a level is chosen.
struct bias {
  float __v;
  explicit constexpr bias(float v) : __v(v) {}
};
struct level {
  float __v;
  explicit constexpr level(float v) : __v(v) {}
};
struct min_lod_clamp {
  float __v;
  explicit constexpr min_lod_clamp(float v) : __v(v) {}
};
#define __SMELT_GRADIENT(name, V)          \
  struct name {                            \
    V __x, __y;                            \
    name(V dx, V dy) : __x(dx), __y(dy) {} \
  };
__SMELT_GRADIENT(gradient2d, float2)
__SMELT_GRADIENT(gradient3d, float3)
__SMELT_GRADIENT(gradientcube, float3)
#undef __SMELT_GRADIENT

}  // namespace metal

#endif
