// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a table of threadgroup addresses with an offset that is known only at run time
// run: 4
// in 1 uint: 4
// out float: 2 2 2 2
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, constant uint& n, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float x[8];
  threadgroup float* turn[2] = {x, x + n};
  turn[0][i] = 0;
  for (uint s = 0; s < n / 2; s++) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    turn[(s + 1) & 1][i] = turn[s & 1][3 - i] + 1;
  }
  out[i] = turn[0][i];
}
