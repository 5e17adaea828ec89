// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: the result of `?:` between two lvalues can be assigned to, added to, bound to a reference and changed by its methods
// run: 1
// out float: 1 2 6 4 5 7
#include <metal_stdlib>
using namespace metal;
struct Cell { float n; void set(float x) { n = x; } };
kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
  threadgroup float2 t[2];
  t[0] = t[1] = 0;
  (i == 0 ? t[0] : t[1]) = float2(1, 2);
  (i == 0 ? t[1] : t[0]) += 6;
  Cell a = {0}, b = {0};
  (i == 0 ? a : b).set(4);
  thread Cell& chosen = i == 0 ? b : a;
  chosen.n = 5;
  float2 own[2] = {0, 0};
  thread float2* at = &(i == 0 ? own[0] : own[1]);
  at->x = 7;
  out[0] = t[0].x;
  out[1] = t[0].y;
  out[2] = t[1].x;
  out[3] = a.n;
  out[4] = b.n;
  out[5] = own[0].x;
}
