// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: components can be read in any order and repeatedly, as xyzw or rgba
// run: 1
// out float: 4 3 2 1 1 1 3
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  const float4 v = float4(1, 2, 3, 4);
  const float4 r = v.wzyx;
  for (int i = 0; i < 4; ++i) out[i] = r[i];
  out[4] = v.xx.x;
  out[5] = v.rrgb.y;
  out[6] = v.b;
}
