// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

kernel void matmul_relu(device half * c [[buffer(0)]], device half * a [[buffer(1)]], device half * b [[buffer(2)]], device float * bias [[buffer(3)]], constant uchar * args [[buffer(4)]], uint3 tgid [[threadgroup_position_in_grid]], uint3 tid [[thread_position_in_threadgroup]]) {
  threadgroup char pool[2048];
  threadgroup half * stage = (threadgroup half *)pool;
  threadgroup float * tile = (threadgroup float *)pool;
  int n = *(constant int *)(args + 0);
  int k = *(constant int *)(args + 4);
  int warp = (int)(tid.x / 32u);
  int row = (int)tgid.y * 16;
  int column = (int)tgid.x * 16;
  simdgroup_float8x8 acc0 = simdgroup_float8x8(0.0f);
  simdgroup_float8x8 acc1 = simdgroup_float8x8(0.0f);
  for (int kk = 0; kk < k; kk += 16) {
    for (int e = (int)tid.x; e < 256; e += 64) {
      stage[e] = a[(row + e / 16) * k + kk + e % 16];
      stage[256 + e] = b[(kk + e / 16) * n + column + e % 16];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int s = 0; s < 16; s += 8) {
      simdgroup_half8x8 fa;
      simdgroup_half8x8 fb0;
      simdgroup_half8x8 fb1;
      simdgroup_load(fa, stage + warp * 8 * 16 + s, 16);
      simdgroup_load(fb0, stage + 256 + s * 16, 16);
      simdgroup_load(fb1, stage + 256 + s * 16 + 8, 16);
      simdgroup_multiply_accumulate(acc0, fa, fb0, acc0);
      simdgroup_multiply_accumulate(acc1, fa, fb1, acc1);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  simdgroup_store(acc0, tile + warp * 8 * 16, 16);
  simdgroup_store(acc1, tile + warp * 8 * 16 + 8, 16);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int e = (int)tid.x; e < 256; e += 64) {
    float v = tile[e] + bias[column + e % 16];
    v = v > 0.0f ? v : 0.0f;
    c[(row + e / 16) * n + column + e % 16] = (half)v;
  }
}
