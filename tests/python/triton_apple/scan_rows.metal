// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

kernel void scan_rows(device long * out [[buffer(0)]], device int * x [[buffer(1)]], uint3 tgid [[threadgroup_position_in_grid]], uint3 tid [[thread_position_in_threadgroup]]) {
  threadgroup char pool[16];
  threadgroup int * part = (threadgroup int *)pool;
  int lane = (int)(tid.x & 31u);
  int warp = (int)(tid.x / 32u);
  int at = (int)tgid.x * 128 + (int)tid.x;
  int v = x[at];
  int up = simd_shuffle_up(v, 1u);
  v = lane >= 1 ? v + up : v;
  up = simd_shuffle_up(v, 2u);
  v = lane >= 2 ? v + up : v;
  up = simd_shuffle_up(v, 4u);
  v = lane >= 4 ? v + up : v;
  up = simd_shuffle_up(v, 8u);
  v = lane >= 8 ? v + up : v;
  up = simd_shuffle_up(v, 16u);
  v = lane >= 16 ? v + up : v;
  if (lane == 31) part[warp] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int before = 0;
  for (int w = 0; w < warp; w += 1) {
    before += part[w];
  }
  out[at] = (long)(before + v);
}
