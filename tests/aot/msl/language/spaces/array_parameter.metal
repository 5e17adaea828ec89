// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: an array parameter is a pointer, whatever its address space
// run: 2
// in 1 int: 1 2 3 4
// out int: 14 25
#include <metal_stdlib>
using namespace metal;
int at(constant int s[4], int i) { return s[i]; }
int at2(threadgroup int t[2][2], int i) { return t[i][1 - i]; }
int own(int s[2], int i) { return s[i]; }
kernel void k(device int* out, constant int* c [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup int t[2][2];
  t[i][0] = t[i][1] = 10 * (i + 1);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int mine[2] = {3, 3};
  out[i] = at(c, i) + at2(t, i) + own(mine, i);
}
