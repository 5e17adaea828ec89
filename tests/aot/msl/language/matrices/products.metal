// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: matrix times vector, vector times matrix, matrix times matrix
// run: 1
// out float: 7 10 5 11 7 10 15 22
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  const float2x2 m = float2x2(1, 2, 3, 4);
  const float2 v = float2(1, 2);
  const float2 a = m * v, b = v * m;
  const float2x2 p = m * m;
  out[0] = a.x;
  out[1] = a.y;
  out[2] = b.x;
  out[3] = b.y;
  for (int i = 0; i < 4; ++i) out[4 + i] = p[i / 2][i % 2];
}
