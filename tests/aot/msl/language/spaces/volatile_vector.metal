// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: vectors in volatile memory, written, read and copied
// run: 1
// in 1 float: 1 2 3 4 5 6
// out float: 20 21 1 1 3 4 3 4
#include <metal_stdlib>
using namespace metal;
struct Block { float4 value; };
kernel void k(device float* out, volatile device float2* p [[buffer(1)]]) {
  volatile thread Block b;
  b.value = float4(20);
  b.value.y += 1;
  p[0] = float2(1);
  const float2 q = p[1];
  p[2] = q;
  out[0] = b.value.x;
  out[1] = b.value[1];
  for (int i = 0; i < 6; ++i) out[2 + i] = p[i / 2][i % 2];
}
