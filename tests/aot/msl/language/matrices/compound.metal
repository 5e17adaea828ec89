// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: compound assignment of matrices
// run: 1
// out float: 2 20 15
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  float2x2 m = float2x2(1, 2, 3, 4);
  m += m;
  out[0] = m[0][0];
  m *= 2;
  out[1] = m[1].y + m[0].x;
  float2x2 n = float2x2(1, 2, 3, 4);
  n *= n;
  out[2] = n[1][0];
}
