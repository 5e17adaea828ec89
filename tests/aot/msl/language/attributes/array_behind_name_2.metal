// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: an attribute between an array's name and two sizes, and before a bit-field's width
// run: 1
// out int: 48 5
#include <metal_stdlib>
using namespace metal;
struct Rows { device float* rows [[id(0)]][2][3]; };
struct Bits { uint low [[id(0)]] : 3; };
kernel void k(device int* out, constant Rows& unused [[buffer(1)]]) {
  Bits b;
  b.low = 13;
  out[0] = sizeof(Rows);
  out[1] = b.low;
}
