// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: components can be written in any order, without repeats
// run: 1
// out float: 7 1 8 2
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  float4 v = 0;
  v.yw = float2(1, 2);
  v.zx = float2(8, 7);
  for (int i = 0; i < 4; ++i) out[i] = v[i];
}
