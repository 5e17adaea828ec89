// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a swizzle can be the left operand of a compound assignment
// run: 1
// out float: 2 5 3
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  float3 v = float3(1, 2, 3);
  v.xy += float2(1, 3);
  for (int i = 0; i < 3; ++i) out[i] = v[i];
}
