// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: sizes and alignments of matrices
// run: 1
// out int: 48 16 16 12 4
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  out[0] = sizeof(float3x3);
  out[1] = alignof(float3x3);
  out[2] = sizeof(half2x3);
  out[3] = sizeof(half3x2);
  out[4] = alignof(half3x2);
}
