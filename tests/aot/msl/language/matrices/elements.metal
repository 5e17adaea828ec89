// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a matrix made of scalars, column by column
// run: 1
// out float: 1 2 3 4 5 6
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  const float2x3 m = float2x3(1, 2, 3, 4, 5, 6);
  for (int i = 0; i < 6; ++i) out[i] = m[i / 3][i % 3];
}
