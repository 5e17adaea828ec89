// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

kernel void too_large(device float * x [[buffer(0)]], uint3 tid [[thread_position_in_threadgroup]]) {
  threadgroup char pool[36864];
  threadgroup float * s = (threadgroup float *)pool;
  s[tid.x * 64u] = x[tid.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[tid.x] = s[(tid.x ^ 1u) * 64u];
}
