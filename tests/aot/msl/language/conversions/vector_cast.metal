// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: vectors convert explicitly, element by element
// run: 1
// out float: 1 -2 3 2
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  const int2 a = int2(float2(1.9, -2.9));
  out[0] = a.x;
  out[1] = a.y;
  out[2] = float2((uint2)float2(3.5)).x;
  out[3] = static_cast<half2>(int2(2)).y;
}
