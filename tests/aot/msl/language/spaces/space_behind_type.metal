// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: an address space may follow the type
// run: 4
// out float: 3 2 1 0
#include <metal_stdlib>
using namespace metal;
constexpr float kept(float const thread& x) { return x; }
kernel void k(float device* out, uint i [[thread_position_in_threadgroup]]) {
  float threadgroup t[4];
  vec<float, 2> threadgroup u[4];
  u[i].x = t[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = kept((t[3 - i] + u[3 - i].x) / 2);
}
