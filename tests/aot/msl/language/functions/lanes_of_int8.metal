// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: SIMD-group functions accept `int8_t`, even if the program overloads them for other types
// run: 2
// out int: -56 -56 7 100 100 101 1 1
#include <metal_stdlib>
using namespace metal;
inline uint64_t simd_shuffle_and_fill_up(uint64_t data, uint64_t filling, uint16_t delta) { return 55; }
inline int64_t simd_shuffle_and_fill_up(int64_t data, int64_t filling, uint16_t delta) { return 56; }
inline bool simd_shuffle_and_fill_up(bool data, bool filling, uint16_t delta) { return true; }
inline float simd_sum(float x) { return 57; }
inline float simd_shuffle(float x, ushort lane) { return 58; }
kernel void k(device int* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  const int8_t x = 100 + i - (i == 1), y = 7, wide = 100 + i;
  out[i] = simd_sum(x);
  out[2 + i] = simd_shuffle_and_fill_up(x, y, 1);
  out[4 + i] = simd_shuffle(wide, i);
  out[6 + i] = sizeof(simd_max(x));
}
