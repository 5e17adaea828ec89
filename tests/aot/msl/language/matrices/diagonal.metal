// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a matrix made of one scalar has that scalar on its diagonal
// run: 1
// out float: 5 0 0 5
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  const float2x2 m = float2x2(5);
  for (int i = 0; i < 4; ++i) out[i] = m[i / 2][i % 2];
}
