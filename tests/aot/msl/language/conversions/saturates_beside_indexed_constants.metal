// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a float that does not fit saturates in every kernel, also in one that indexes a vector of constants
// run: 1
// in 1 uint: 33
// out int: 127 255 -128 0 15
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, constant uint& n [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  ulong2 constants = ulong2(3, 15);
  const uint number = (i + 132) & 1023;
  out[0] = char(float(number));
  out[1] = uchar(float(number * 3));
  out[2] = char(float(-int(number)));
  out[3] = uchar(float(-int(number)));
  out[4] = constants[n & 1];
}
