// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: pointers and references to columns in device, constant and threadgroup memory
// run: 1
// in 1 float: 1 2 3 4
// in 2 float: 5 6 7 8
// out float: 13 4 8 8
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, device float2x2* d [[buffer(1)]], constant float2x2* c [[buffer(2)]]) {
  threadgroup float2x2 t;
  t = *d;
  device float2* column = &(*d)[0];
  device float2& other = d[0][1];
  constant float2* h = &(*c)[1];
  threadgroup float2& shared = t[1];
  *column = other + float2(*h) + float2(3, -8);
  shared.y += 4;
  out[0] = d[0][0].x;
  out[1] = d[0][0].y;
  out[2] = t[1].y;
  out[3] = h->y;
}
