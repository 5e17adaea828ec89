// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `_Pragma` right before a threadgroup declaration
// run: 4
// out float: 3 2 1 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, uint i [[thread_position_in_threadgroup]]) {
  _Pragma("METAL fp contract(off)") threadgroup float t[4];
  t[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = t[3 - i];
}
