// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: attributes of C++ right before a threadgroup declaration
// run: 4
// out float: 3 2 1 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, uint i [[thread_position_in_threadgroup]]) {
  [[maybe_unused]] threadgroup float t[4];
  [[maybe_unused]] alignas(16) threadgroup float u[4];
  t[i] = i;
  u[i] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = t[3 - i] + u[i];
}
