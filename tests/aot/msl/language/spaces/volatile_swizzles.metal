// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: swizzles of vectors in volatile memory, read and written
// run: 1
// in 1 float: 1 2 3 4
// out float: 4 3 8 9 10 3 9 9
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, volatile device float4& v [[buffer(1)]]) {
  const float4 turned = v.wzyx;
  v.xy = float2(8, 9);
  v.zw += 6;
  v.w = v.z + 1;
  out[0] = turned.x;
  out[1] = turned.y;
  out[2] = v.x;
  out[3] = v.y;
  out[4] = v.w;
  out[5] = v.z - 6;
  const volatile float2 copy = v.yy;
  out[6] = copy.x;
  out[7] = copy.yx.x;
}
