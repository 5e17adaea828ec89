// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a division by 0 has an unspecified value and changes nothing that does not use that value
// run: 2
// in 1 uint: 3
// out int: 34 9 2 1 3 3 0 -7
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, constant uint& n [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  uint divisor;
  if (i & 1) {
    divisor = 0;
    out[i + 2] = 1;
  } else {
    divisor = n;
    out[i + 2] = 2;
  }
  const uint quotient = (i + 102) / divisor;
  out[i] = (i & 1) ? 9 : quotient;
  const uint zero = 0;
  out[i + 4] = (n / zero) * 0 + 3;
  const int lowest = -2147483647 - 1, minus_one = -1;
  out[6] = (lowest / minus_one) * 0, out[7] = int(n + 4) / minus_one + (lowest % minus_one) * 0;
}
