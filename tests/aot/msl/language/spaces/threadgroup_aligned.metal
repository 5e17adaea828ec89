// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `alignas` and GNU attributes before threadgroup memory
// run: 2
// out int: 1 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, uint i [[thread_position_in_threadgroup]]) {
  alignas(16) threadgroup int t[2];
  __attribute__((aligned(32))) threadgroup int u[2];
  t[i] = i;
  u[i] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = t[1 - i] + u[1 - i];
}
