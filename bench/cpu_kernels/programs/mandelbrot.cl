// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
kernel void mandelbrot(global uint* restrict counts, float left, float top, float step, uint most) {
  const uint column = get_global_id(0), row = get_global_id(1);
  const float x0 = fma((float)column, step, left), y0 = fma((float)row, step, top);
  float x = 0.0f, y = 0.0f;
  uint count = 0;
  while (count < most && fma(x, x, y * y) <= 4.0f) {
    const float next = fma(x, x, fma(-y, y, x0));
    y = fma(2.0f * x, y, y0);
    x = next;
    ++count;
  }
  counts[row * get_global_size(0) + column] = count;
}
