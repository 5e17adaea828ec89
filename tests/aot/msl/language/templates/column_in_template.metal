// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: pointers and references to columns in a template
// run: 1
// in 1 float: 1 2 3 4
// out float: 3 4 9
#include <metal_stdlib>
using namespace metal;
template <typename T> T element(device matrix<T, 2, 2>& m) {
  device vec<T, 2>& column = m[1];
  device vec<T, 2>* same = &m[1];
  column[0] += 4;
  same->x += 2;
  return m[1][0];
}
kernel void k(device float* out, device float2x2& m [[buffer(1)]]) {
  const float2 before = m[1];
  out[2] = element(m);
  out[0] = before.x;
  out[1] = before.y;
}
