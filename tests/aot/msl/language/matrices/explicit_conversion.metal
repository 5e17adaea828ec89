// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a matrix converts explicitly to another element type
// run: 1
// out float: 1.5 4
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  const float2x2 m = float2x2(half2x2(float2x2(1.5, 2, 3, 4)));
  out[0] = m[0][0];
  out[1] = m[1][1];
}
