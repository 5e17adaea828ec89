// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: packed vectors in volatile memory
// run: 1
// in 1 float: 1 2 3 4 5 6
// out float: 2 4 6 3 2 1
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, volatile device packed_float3* p [[buffer(1)]]) {
  const float3 first = p[0];
  p[1] = first;
  p[0] *= 2;
  p[1] = p[1].zyx;
  for (int i = 0; i < 3; ++i) {
    out[i] = p[0][i];
    out[3 + i] = p[1][i];
  }
}
