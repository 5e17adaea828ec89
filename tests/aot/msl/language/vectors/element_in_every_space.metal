// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: vector elements at a computed index can be read and written in every address space
// run: 1
// in 1 float: 1 2 3 4
// out float: 1 7 3 4 5 6 4
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, device float4* d [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  threadgroup float2 t[1];
  packed_float3 own = packed_float3(4, 0, 6);
  d[0][i + 1] = 7;
  t[0][i] = 4;
  own[i + 1] = 5;
  for (int j = 0; j < 4; ++j) out[j] = (*d)[j];
  out[4] = own[i + 1];
  out[5] = own[2];
  out[6] = t[0][i];
}
