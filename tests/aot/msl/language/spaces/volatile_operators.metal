// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: operators on vectors in volatile memory
// run: 1
// in 1 float: 1 2 3 4
// out float: -1 -2 12 24 1 9
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, volatile device float2* p [[buffer(1)]]) {
  const float2 negative = -p[0];
  p[1] += p[0];
  p[1] *= 2;
  p[1] = p[1] + float2(4, 12);
  out[0] = negative.x;
  out[1] = negative.y;
  out[2] = p[1].x;
  out[3] = p[1].y;
  out[4] = all(p[0] < p[1]);
  volatile int4 shifted = int4(9);
  shifted <<= 1;
  shifted >>= uint4(1);
  out[5] = shifted.w;
}
