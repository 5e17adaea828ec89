// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: threadgroup memory declared in a block, and two variables in one declaration
// run: 2
// out int: 31 20
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, uint i [[thread_position_in_threadgroup]]) {
  {
    threadgroup int a[2], b;
    a[i] = i * 10 + 20 * (1 - i);
    if (i == 0) b = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = a[1 - i] + (i == 0 ? 20 : 0) + (i == 0 ? b : 0);
  }
}
