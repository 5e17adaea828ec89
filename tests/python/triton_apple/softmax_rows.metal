// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

kernel void softmax_rows(device float * out [[buffer(0)]], device float * x [[buffer(1)]], constant uchar * args [[buffer(2)]], uint3 tgid [[threadgroup_position_in_grid]], uint3 tid [[thread_position_in_threadgroup]]) {
  threadgroup char pool[32];
  threadgroup float * part = (threadgroup float *)pool;
  int width = *(constant int *)(args + 0);
  int lane = (int)(tid.x & 31u);
  int warp = (int)(tid.x / 32u);
  device float * row = x + (int)tgid.x * width;
  float v[4];
  for (int i = 0; i < 4; i += 1) {
    int at = (int)tid.x + i * 64;
    v[i] = -INFINITY;
    if (at < width) v[i] = row[at];
  }
  float most = max(max(v[0], v[1]), max(v[2], v[3]));
  most = max(most, simd_shuffle_xor(most, 16u));
  most = max(most, simd_shuffle_xor(most, 8u));
  most = max(most, simd_shuffle_xor(most, 4u));
  most = max(most, simd_shuffle_xor(most, 2u));
  most = max(most, simd_shuffle_xor(most, 1u));
  if (lane == 0) part[warp] = most;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  most = max(part[0], part[1]);
  float sum = 0.0f;
  for (int i = 0; i < 4; i += 1) {
    v[i] = exp(v[i] - most);
    sum += v[i];
  }
  sum += simd_shuffle_xor(sum, 16u);
  sum += simd_shuffle_xor(sum, 8u);
  sum += simd_shuffle_xor(sum, 4u);
  sum += simd_shuffle_xor(sum, 2u);
  sum += simd_shuffle_xor(sum, 1u);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) part[warp] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = part[0] + part[1];
  for (int i = 0; i < 4; i += 1) {
    int at = (int)tid.x + i * 64;
    if (at < width) out[(int)tgid.x * width + at] = v[i] / sum;
  }
}
