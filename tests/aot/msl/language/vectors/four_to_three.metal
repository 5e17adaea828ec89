// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a cast from a vector of four to a vector of three keeps the first three elements
// run: 1
// out float: 1 2 3 7 8 9
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, uint t [[thread_position_in_grid]]) {
  const float4 four = float4(1, 2, 3, 4) + float(t);
  const float3 a = float3(four);
  constexpr int3 b = int3(int4(7, 8, 9, 10));
  const half3 c = half3(half4(b.x, b.y, b.z, 1));
  for (int i = 0; i < 3; ++i) {
    out[i] = a[i];
    out[3 + i] = c[i];
  }
}
