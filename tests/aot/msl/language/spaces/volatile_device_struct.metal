// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector in a volatile struct of a buffer
// run: 1
// in 1 float: 1 2 3 4 0 0 0 0
// out float: 22 23 24 25 8
#include <metal_stdlib>
using namespace metal;
struct Block { float4 value; uint n; };
kernel void k(device float* out, volatile device Block& b [[buffer(1)]]) {
  b.n += 7;
  const float4 t = b.value;
  b.value = t + 20;
  b.value = b.value + 1;
  ++b.n;
  for (int i = 0; i < 4; ++i) out[i] = b.value[i];
  out[4] = b.n;
}
