// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: matrices are added, subtracted and scaled
// run: 1
// out float: 3 6 -1 2 0.5
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  const float2x2 m = float2x2(1, 2, 3, 4);
  out[0] = (m + m * 2)[0][0];
  out[1] = (3 * m)[0][1];
  out[2] = (-m)[0].x;
  out[3] = (m - float2x2(2))[1][1];
  out[4] = (m / 2)[0][0];
}
