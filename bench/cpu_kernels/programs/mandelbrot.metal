// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

// fma throughout, so that every compiler rounds alike and the counts can be compared exactly.
kernel void mandelbrot(device uint* counts, constant float& left, constant float& top, constant float& step,
                       constant uint& most, uint2 at [[thread_position_in_grid]],
                       uint2 size [[threads_per_grid]]) {
  const float x0 = fma(float(at.x), step, left), y0 = fma(float(at.y), step, top);
  float x = 0.0f, y = 0.0f;
  uint count = 0;
  while (count < most && fma(x, x, y * y) <= 4.0f) {
    const float next = fma(x, x, fma(-y, y, x0));
    y = fma(2.0f * x, y, y0);
    x = next;
    ++count;
  }
  counts[at.y * size.x + at.x] = count;
}
