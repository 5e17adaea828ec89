// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a pointer to an element of a packed vector of a buffer
// run: 1
// in 1 float: 1 2 3 4 5 6
// out float: 6 9
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, device packed_float3* p [[buffer(1)]]) {
  device float* last = &p[1][2];
  out[0] = *last;
  *last = 9;
  out[1] = p[1].z;
}
