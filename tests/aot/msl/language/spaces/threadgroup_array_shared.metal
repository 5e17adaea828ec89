// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: all threads of a threadgroup share a threadgroup array
// run: 4
// out int: 30 20 10 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup int t[4];
  t[i] = i * 10;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = t[3 - i];
}
