// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: pointers and references to elements, in every space
// run: 1
// in 1 float: 1 2 3 4
// out float: 1 7 3 8 4 5 6
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, device float4* d [[buffer(1)]]) {
  threadgroup float2 t[1];
  packed_float3 own = packed_float3(4, 0, 6);
  device float* second = &d[0][1];
  device float& last = d[0].w;
  threadgroup float& first = t[0][0];
  thread float* middle = &own[1];
  *second = 7;
  last = 8;
  first = 4;
  *middle = 5;
  for (int i = 0; i < 4; ++i) out[i] = (*d)[i];
  out[4] = own[0];
  out[5] = own[1];
  out[6] = t[0].x + 2;
}
