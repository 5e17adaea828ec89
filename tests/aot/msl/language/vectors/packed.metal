// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: packed vectors convert to aligned ones and back, and compute
// run: 1
// in 1 float: 1 2 3 4 5 6
// out float: 5 7 9 32
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, device packed_float3* p [[buffer(1)]]) {
  const float3 sum = p[0] + p[1];
  for (int i = 0; i < 3; ++i) out[i] = sum[i];
  out[3] = dot(float3(p[0]), p[1]);
}
