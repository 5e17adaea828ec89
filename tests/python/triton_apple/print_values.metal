// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

/*
AGPU-PRINT-LAYOUT headerWords=1
AGPU-PRINT-LAYOUT headWord=0
AGPU-PRINT-LAYOUT recordWords=7
AGPU-PRINT-LAYOUT records=96
AGPU-PRINT-LAYOUT bytes=2692
AGPU-PRINT-LAYOUT field.site=0
AGPU-PRINT-LAYOUT field.pid=1
AGPU-PRINT-LAYOUT field.tid=2
AGPU-PRINT-LAYOUT field.index=3
AGPU-PRINT-LAYOUT field.type=4
AGPU-PRINT-LAYOUT field.value=5
AGPU-PRINT-LAYOUT field.operand=6
AGPU-PRINT-LAYOUT type.sint=0
AGPU-PRINT-LAYOUT type.uint=1
AGPU-PRINT-LAYOUT type.float=2
AGPU-PRINT-LAYOUT sites=1
AGPU-PRINT-LAYOUT nops.0=1
AGPU-PRINT-LAYOUT site.0.dec= scaled: 
*/
inline void __agpu_print(device atomic_uint * log, uint site, uint pid, uint thread_at, uint index, uint type, uint value, uint operand) {
  uint slot = atomic_fetch_add_explicit(log + 0, 1u, memory_order_relaxed);
  if (slot >= 96u) {
    return;
  }
  device atomic_uint * record = log + 1 + slot * 7u;
  atomic_store_explicit(record + 0, site, memory_order_relaxed);
  atomic_store_explicit(record + 1, pid, memory_order_relaxed);
  atomic_store_explicit(record + 2, thread_at, memory_order_relaxed);
  atomic_store_explicit(record + 3, index, memory_order_relaxed);
  atomic_store_explicit(record + 4, type, memory_order_relaxed);
  atomic_store_explicit(record + 5, value, memory_order_relaxed);
  atomic_store_explicit(record + 6, operand, memory_order_relaxed);
}
kernel void print_values(device float * out [[buffer(0)]], device float * x [[buffer(1)]], constant uchar * args [[buffer(2)]], device atomic_uint * prints [[buffer(3)]], uint3 tgid [[threadgroup_position_in_grid]], uint3 tid [[thread_position_in_threadgroup]]) {
  float scale = *(constant float *)(args + 0);
  int at = (int)tgid.x * 32 + (int)tid.x;
  float v = x[at] * scale;
  __agpu_print(prints, 0u, tgid.x, tid.x, tid.x, 2u, as_type<uint>(v), 0u);
  out[at] = v;
}
