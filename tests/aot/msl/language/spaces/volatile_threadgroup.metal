// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector in volatile threadgroup memory
// run: 2
// out float: 4 3
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, uint i [[thread_position_in_threadgroup]]) {
  volatile threadgroup float4 t[2];
  t[i] = float4(1, 2, 3 + i, 0);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float4 other = t[1 - i];
  out[i] = other.z;
}
