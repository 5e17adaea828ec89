// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: matrices in constant and threadgroup memory
// run: 1
// in 1 float: 1 2 3 4
// out float: 7 10
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, constant float2x2& c [[buffer(1)]]) {
  threadgroup float2x2 t;
  t = c;
  const float2 v = t * float2(1, 2);
  out[0] = v.x;
  out[1] = v.y;
}
