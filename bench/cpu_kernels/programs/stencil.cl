// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
kernel void plane(global const float* restrict from, global float* restrict to, float rate) {
  const uint x = get_global_id(0), y = get_global_id(1), width = get_global_size(0), height = get_global_size(1);
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) return;
  const uint i = y * width + x;
  const float here = from[i];
  to[i] = here + rate * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width] - 4.0f * here);
}

kernel void box(global const float* restrict from, global float* restrict to, float rate) {
  const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  const uint width = get_global_size(0), height = get_global_size(1), depth = get_global_size(2);
  if (x == 0 || y == 0 || z == 0 || x == width - 1 || y == height - 1 || z == depth - 1) return;
  const uint layer = width * height, i = z * layer + y * width + x;
  const float here = from[i];
  const float around =
      from[i - 1] + from[i + 1] + from[i - width] + from[i + width] + from[i - layer] + from[i + layer];
  to[i] = here + rate * (around - 6.0f * here);
}
