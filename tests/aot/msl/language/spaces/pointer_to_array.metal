// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a pointer to an array names its address space
// run: 2
// in 1 float: 1 2 3 4 5 6
// out float: 6 15
#include <metal_stdlib>
using namespace metal;
float sum(device const float (*rows)[3], uint i) { return rows[i][0] + rows[i][1] + rows[i][2]; }
kernel void k(device float* out, device const float (*rows)[3] [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = sum(rows, i);
}
