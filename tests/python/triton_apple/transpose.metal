// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

kernel void transpose(device uint * out [[buffer(0)]], device uint * x [[buffer(1)]], constant uchar * args [[buffer(2)]], threadgroup uint * pool [[threadgroup(0)]], uint3 tgid [[threadgroup_position_in_grid]], uint3 tid [[thread_position_in_threadgroup]]) {
  int rows = *(constant int *)(args + 0);
  int columns = *(constant int *)(args + 4);
  int lane = (int)(tid.x & 31u);
  int warp = (int)(tid.x / 32u);
  for (int r = warp; r < 32; r += 4) {
    int at = ((int)tgid.y * 32 + r) * columns + (int)tgid.x * 32 + lane;
    pool[r * 33 + lane] = x[at];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int r = warp; r < 32; r += 4) {
    int at = ((int)tgid.x * 32 + r) * rows + (int)tgid.y * 32 + lane;
    out[at] = pool[lane * 33 + r];
  }
}
