// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

kernel void histogram(device int * out [[buffer(0)]], device int * x [[buffer(1)]], constant uchar * args [[buffer(2)]], uint3 tgid [[threadgroup_position_in_grid]], uint3 tid [[thread_position_in_threadgroup]]) {
  threadgroup char pool[256];
  threadgroup atomic_int * bins = (threadgroup atomic_int *)pool;
  int n = *(constant int *)(args + 0);
  if (tid.x < 64u) atomic_store_explicit(bins + tid.x, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int i = 0; i < 4; i += 1) {
    int at = (int)tgid.x * 512 + (int)tid.x + i * 128;
    bool inside = at < n;
    int v = -1;
    if (inside) v = x[at];
    if (v >= 0 && v < 64) atomic_fetch_add_explicit(bins + v, 1, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid.x < 64u) {
    int count = atomic_load_explicit(bins + tid.x, memory_order_relaxed);
    if (count != 0) atomic_fetch_add_explicit((device atomic_int *)(out + tid.x), count, memory_order_relaxed);
  }
}
