/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "parts.h"

void mandelbrot(uint32_t* restrict counts, float left, float top, float step, uint32_t most, uint32_t width,
                uint32_t height, uint32_t part, uint32_t parts) {
  const uint32_t end = first_of(height, part + 1, parts);
  for (uint32_t row = first_of(height, part, parts); row < end; ++row) {
    for (uint32_t column = 0; column < width; ++column) {
      const float x0 = fmaf((float)column, step, left), y0 = fmaf((float)row, step, top);
      float x = 0.0f, y = 0.0f;
      uint32_t count = 0;
      while (count < most && fmaf(x, x, y * y) <= 4.0f) {
        const float next = fmaf(x, x, fmaf(-y, y, x0));
        y = fmaf(2.0f * x, y, y0);
        x = next;
        ++count;
      }
      counts[row * width + column] = count;
    }
  }
}
