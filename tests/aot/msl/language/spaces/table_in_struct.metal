// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: addresses of threadgroup memory in a struct, copied and chosen at run time
// run: 4
// out float: 3 0 1 2
#include <metal_stdlib>
using namespace metal;
struct Pair { threadgroup float* from; threadgroup float* to; };
kernel void k(device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float a[4], b[4];
  const Pair pairs[2] = {{a, b}, {b, a}};
  a[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  pairs[i >> 8].to[(i + 1) & 3] = pairs[i >> 8].from[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = b[i];
}
