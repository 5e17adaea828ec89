// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

// One step of heat in a plane (5 points) and in a box (7 points). The border keeps its values.
kernel void plane(device const float* from, device float* to, constant float& rate,
                  uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  if (any(at == 0) || any(at == size - 1)) return;
  const uint i = at.y * size.x + at.x;
  const float here = from[i];
  to[i] = here + rate * (from[i - 1] + from[i + 1] + from[i - size.x] + from[i + size.x] - 4.0f * here);
}

kernel void box(device const float* from, device float* to, constant float& rate, uint3 at [[thread_position_in_grid]],
                uint3 size [[threads_per_grid]]) {
  if (any(at == 0) || any(at == size - 1)) return;
  const uint layer = size.x * size.y, i = at.z * layer + at.y * size.x + at.x;
  const float here = from[i];
  const float around =
      from[i - 1] + from[i + 1] + from[i - size.x] + from[i + size.x] + from[i - layer] + from[i + layer];
  to[i] = here + rate * (around - 6.0f * here);
}
