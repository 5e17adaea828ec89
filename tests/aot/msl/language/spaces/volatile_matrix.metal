// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: matrices in volatile memory
// run: 1
// in 1 float: 1 2 3 4
// out float: 2 4 6 5
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, volatile device float2x2& m [[buffer(1)]]) {
  const float2x2 copy = m;
  m = copy * 2;
  m[1] = float2(6, 7);
  m[1].y = m[1][1] - 2;
  out[0] = m[0].x;
  out[1] = m[0].y;
  out[2] = m[1].x;
  out[3] = m[1].y;
}
