// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `m[c]` is a column, and `m[c][r]` an element
// run: 1
// out float: 3 4 2
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  const float2x2 m = float2x2(float2(1, 2), float2(3, 4));
  out[0] = m[1].x;
  out[1] = m[1][1];
  out[2] = m.columns[0].y;
}
