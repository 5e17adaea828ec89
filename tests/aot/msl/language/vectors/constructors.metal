// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector is made of scalars and shorter vectors, from left to right
// run: 1
// out float: 1 2 3 4 5 5 1 9
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  const float4 a = float4(float2(1, 2), 3, 4);
  const float4 b = float4(5);
  const float4 c = float4(1, float3(7, 8, 9));
  for (int i = 0; i < 4; ++i) out[i] = a[i];
  out[4] = b.x;
  out[5] = b.w;
  out[6] = c.x;
  out[7] = c.w;
}
