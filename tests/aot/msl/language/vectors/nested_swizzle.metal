// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: swizzles of swizzles and of function results
// run: 1
// out float: 1 3 5
#include <metal_stdlib>
using namespace metal;
float4 make() { return float4(1, 3, 5, 7); }
kernel void k(device float* out) {
  const float4 v = make();
  out[0] = v.wzyx.wz.x;
  out[1] = make().yx.x;
  out[2] = make().rgba.b;
}
