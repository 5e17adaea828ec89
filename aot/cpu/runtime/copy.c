/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// simdgroup_async_copy: whole tiles, copied at once. Operands as in the air call (docs/formats/air.md 3.10).
#include "rt.h"

void smelt_rt_async_copy_1d(u64 element_size, u64 element_alignment, char* to, const char* from, u64 count) {
  (void)element_alignment;
  for (u64 i = 0; i < element_size * count; ++i) to[i] = from[i];
}

// Elements of the destination tile that the source tile does not reach become zero (mode 0) or repeat its edge (mode
// 1).
void smelt_rt_async_copy_2d(u64 element_size, u64 element_alignment, char* to, u64 to_pitch, u64 to_stride,
                            u64 to_width, u64 to_height, const char* from, u64 from_pitch, u64 from_stride,
                            u64 from_width, u64 from_height, u64 offset_x, u64 offset_y, i32 mode) {
  (void)element_alignment;
  for (u64 y = 0; y < to_height; ++y) {
    for (u64 x = 0; x < to_width; ++x) {
      u64 sx = x + offset_x, sy = y + offset_y;
      const int outside = sx >= from_width || sy >= from_height;
      if (outside && from_width && from_height) {
        sx = sx < from_width ? sx : from_width - 1;
        sy = sy < from_height ? sy : from_height - 1;
      }
      char* target = to + (y * to_pitch + x * to_stride) * element_size;
      const char* source = from + (sy * from_pitch + sx * from_stride) * element_size;
      const int zero = outside && (mode == 0 || !from_width || !from_height);
      for (u64 i = 0; i < element_size; ++i) target[i] = zero ? 0 : source[i];
    }
  }
}
