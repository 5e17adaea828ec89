// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector element at a computed index is an lvalue
// run: 3
// out float: 10 11 12
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
  float3 v = 0;
  v[i] = 10 + i;
  out[i] = v[i];
}
