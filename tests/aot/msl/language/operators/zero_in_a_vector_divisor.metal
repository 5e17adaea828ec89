// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a component of a vector's divisor that is 0 leaves the other components of the result as they are
// run: 1
// out int: 20 15 10 2 0 2 -12 -4
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
  const uint4 a = uint4(10, 20, 30, 40) + i;
  const uint4 quotient = a / uint4(0, 1, 2, 4);
  out[0] = quotient.y, out[1] = quotient.z, out[2] = quotient.w;
  const uint4 rest = a % uint4(0, 3, 2, 38);
  out[3] = rest.y, out[4] = rest.z, out[5] = rest.w;
  const int3 negative = int3(-37, 5, 16) / int3(3, 0, -4);
  out[6] = negative.x, out[7] = negative.z;
}
