// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a table of threadgroup addresses, at an index that the loop computes
// run: 8
// out float: 5 4 5 4 5 4 5 4
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float a[8], b[8];
  threadgroup float* turn[2] = {a, b};
  turn[0][i] = i & 1;
  for (uint s = 0; s < 4; s++) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    turn[(s + 1) & 1][i] = turn[s & 1][7 - i] + 1;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = turn[0][7 - i];
}
