/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "parts.h"

static void plane_step(const float* restrict from, float* restrict to, float rate, size_t width, uint32_t begin,
                       uint32_t end) {
  for (uint32_t y = begin; y < end; ++y) {
    const float* restrict row = from + y * width;
    float* restrict out = to + y * width;
    for (size_t x = 1; x < width - 1; ++x) {
      out[x] = row[x] + rate * (row[x - 1] + row[x + 1] + row[x - width] + row[x + width] - 4.0f * row[x]);
    }
  }
}

static void box_step(const float* restrict from, float* restrict to, float rate, size_t width, uint32_t height,
                     uint32_t begin, uint32_t end) {
  const size_t layer = width * height;
  for (uint32_t z = begin; z < end; ++z) {
    for (uint32_t y = 1; y < height - 1; ++y) {
      const float* restrict row = from + z * layer + y * width;
      float* restrict out = to + z * layer + y * width;
      for (size_t x = 1; x < width - 1; ++x) {
        const float around =
            row[x - 1] + row[x + 1] + row[x - width] + row[x + width] + row[x - layer] + row[x + layer];
        out[x] = row[x] + rate * (around - 6.0f * row[x]);
      }
    }
  }
}

// An even number of steps: the last one writes to `first`.
void plane(float* first, float* second, float rate, uint32_t width, uint32_t height, uint32_t steps, uint32_t part,
           uint32_t parts) {
  const uint32_t begin = 1 + first_of(height - 2, part, parts), end = 1 + first_of(height - 2, part + 1, parts);
  for (uint32_t step = 0; step < steps; step += 2) {
    plane_step(first, second, rate, width, begin, end);
    wait_for_all(parts);
    plane_step(second, first, rate, width, begin, end);
    wait_for_all(parts);
  }
}

void box(float* first, float* second, float rate, uint32_t width, uint32_t height, uint32_t depth, uint32_t steps,
         uint32_t part, uint32_t parts) {
  const uint32_t begin = 1 + first_of(depth - 2, part, parts), end = 1 + first_of(depth - 2, part + 1, parts);
  for (uint32_t step = 0; step < steps; step += 2) {
    box_step(first, second, rate, width, height, begin, end);
    wait_for_all(parts);
    box_step(second, first, rate, width, height, begin, end);
    wait_for_all(parts);
  }
}
