// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: arithmetic of narrow vectors stays narrow
// run: 1
// out int: -128 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  const char2 c = char2(127) + char2(1);
  const uchar2 u = uchar2(255) + uchar2(1);
  out[0] = c.x;
  out[1] = u.x;
}
