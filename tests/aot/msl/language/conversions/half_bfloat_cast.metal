// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: half and bfloat convert explicitly to each other
// run: 1
// out float: 1.5 2.5
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  const half h = 1.5h;
  const bfloat b = bfloat(h);
  out[0] = b;
  out[1] = (half)bfloat(2.5f);
}
