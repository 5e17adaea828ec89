// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `transpose` and `determinant`
// run: 1
// out float: 1 3 2 4 -2
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  const float2x2 m = float2x2(1, 2, 3, 4), t = transpose(m);
  for (int i = 0; i < 4; ++i) out[i] = t[i / 2][i % 2];
  out[4] = determinant(m);
}
