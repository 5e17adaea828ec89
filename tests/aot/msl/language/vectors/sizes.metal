// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: sizes and alignments of vectors
// run: 1
// out int: 8 16 16 6 8 32 4 12 4
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  out[0] = sizeof(float2);
  out[1] = sizeof(float3);
  out[2] = alignof(float4);
  out[3] = sizeof(packed_half3);
  out[4] = sizeof(half3);
  out[5] = sizeof(long3);
  out[6] = sizeof(bool3);
  out[7] = sizeof(packed_float3);
  out[8] = alignof(packed_float3);
}
