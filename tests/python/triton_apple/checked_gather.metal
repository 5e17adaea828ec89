// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

/*
AGPU-ASSERT-LAYOUT headerWords=1
AGPU-ASSERT-LAYOUT headWord=0
AGPU-ASSERT-LAYOUT recordWords=3
AGPU-ASSERT-LAYOUT records=8
AGPU-ASSERT-LAYOUT bytes=100
AGPU-ASSERT-LAYOUT field.site=0
AGPU-ASSERT-LAYOUT field.pid=1
AGPU-ASSERT-LAYOUT field.tid=2
AGPU-ASSERT-LAYOUT sites=2
AGPU-ASSERT-LAYOUT where.0=gather.py:11
AGPU-ASSERT-LAYOUT msg.0=index is negative
AGPU-ASSERT-LAYOUT where.1=gather.py:12
AGPU-ASSERT-LAYOUT msg.1=index is past the end
*/
inline void __agpu_fail(device atomic_uint * log, uint site, uint pid, uint thread_at) {
  uint slot = atomic_fetch_add_explicit(log + 0, 1u, memory_order_relaxed);
  if (slot < 8u) {
    device atomic_uint * record = log + 1 + slot * 3u;
    atomic_store_explicit(record + 0, site, memory_order_relaxed);
    atomic_store_explicit(record + 1, pid, memory_order_relaxed);
    atomic_store_explicit(record + 2, thread_at, memory_order_relaxed);
  }
}
kernel void checked_gather(device float * out [[buffer(0)]], device float * x [[buffer(1)]], device long * index [[buffer(2)]], constant uchar * args [[buffer(3)]], device atomic_uint * asserts [[buffer(4)]], uint3 tgid [[threadgroup_position_in_grid]], uint3 tid [[thread_position_in_threadgroup]]) {
  int n = *(constant int *)(args + 0);
  int at = (int)tgid.x * 64 + (int)tid.x;
  long i = index[at];
  if (!(i >= 0l)) {
    __agpu_fail(asserts, 0u, tgid.x, tid.x);
    return;
  }
  if (!(i < (long)n)) {
    __agpu_fail(asserts, 1u, tgid.x, tid.x);
    return;
  }
  out[at] = x[i];
}
