/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once
#include <c10/metal/utils.h>

namespace c10 {
namespace metal {

template <typename T>
inline T simd_sum(T v) {
  return ::metal::simd_sum(v);
}
template <typename T>
inline T simd_max(T v) {
  return ::metal::simd_max(v);
}
template <typename T>
inline T simd_min(T v) {
  return ::metal::simd_min(v);
}
/* Metal folds no numbers of 64 bits: halves are shuffled. */
inline long simd_min(long v) {
  for (ushort step = 16; step > 0; step /= 2) {
    const uint2 halves = as_type<uint2>(v);
    const long other =
        as_type<long>(uint2(::metal::simd_shuffle_xor(halves.x, step), ::metal::simd_shuffle_xor(halves.y, step)));
    v = other < v ? other : v;
  }
  return v;
}

}  // namespace metal
}  // namespace c10
