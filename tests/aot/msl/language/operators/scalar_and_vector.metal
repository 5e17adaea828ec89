// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a scalar operand becomes a vector of the other operand's type
// run: 1
// out float: 3 4 2 6
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  out[0] = (float2(1, 2) + 2).x;
  out[1] = (2 * float2(1, 2)).y;
  out[2] = (int2(7) / 3).x;
  half2 h = half2(3);
  h *= 2.0;
  out[3] = h.x;
}
