// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `?:` between objects of two address spaces is a value
// run: 2
// in 1 float: 1 2 3 4
// out float: 1 8
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, device float2* x [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  float2 own = 7;
  threadgroup float2 t[1];
  t[0] = 8;
  const float2 a = i == 0 ? x[0] : own;
  const float2 b = i == 0 ? a : t[0];
  out[i] = b.x;
}
