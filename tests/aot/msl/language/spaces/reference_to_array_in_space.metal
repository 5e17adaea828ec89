// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a reference to an array in threadgroup or constant memory
// run: 4
// in 1 float: 1 2 3 4
// out float: 4 4 4 4
#include <metal_stdlib>
using namespace metal;
float mixed(threadgroup float (&t)[4], constant float (&c)[4], uint i) { return t[3 - i] + c[i] - 1; }
struct Four { float v[4]; };
kernel void k(device float* out, constant Four& c [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup float t[4];
  t[i] = i + 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = mixed(t, c.v, i);
}
