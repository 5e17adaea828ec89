// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: threadgroup memory in a function template
// run: 2
// out int: 1 0
#include <metal_stdlib>
using namespace metal;
template <typename T, int N> T other(T x, uint i) {
  threadgroup T t[N];
  t[i] = x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return t[N - 1 - i];
}
kernel void k(device int* out, uint i [[thread_position_in_threadgroup]]) { out[i] = other<int, 2>(i, i); }
