// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: nested `?:`, of objects and of values
// run: 3
// out float: 1 0 2 0 3 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device float2* out, uint i [[thread_position_in_grid]]) {
  float2 a = float2(1, 0), b = float2(2, 0), c = float2(3, 0);
  out[i] = i == 0 ? a : i == 1 ? b : c;
  (i == 0 ? a : i == 1 ? b : c).x = 9;
  out[i] = i == 0 ? out[i] : a.x == 1 ? out[i] : float2(0);
}
