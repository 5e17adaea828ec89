// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a packed vector can be shifted by a vector of another signedness
// run: 1
// out int: 4 16 8
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  packed_int2 p = packed_int2(1, 2);
  out[0] = (p << uint2(2)).x;
  p <<= uint2(3);
  out[1] = p.y;
  out[2] = (int2(16) >> packed_uint2(1)).x;
}
