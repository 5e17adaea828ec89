// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: matrices are compared as a whole
// run: 1
// out int: 1 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  const float2x2 m = float2x2(1);
  out[0] = m == float2x2(1);
  out[1] = m == float2x2(2);
}
