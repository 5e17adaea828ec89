// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

inline float __agpu_group_sum(float v, threadgroup float * part, int lane, int warp) {
  v = simd_sum(v);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) part[warp] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return (part[0] + part[1]) + (part[2] + part[3]);
}
kernel void layer_norm(device ushort * out [[buffer(0)]], device ushort * x [[buffer(1)]], device float * weight [[buffer(2)]], constant uchar * args [[buffer(3)]], uint3 tgid [[threadgroup_position_in_grid]], uint3 tid [[thread_position_in_threadgroup]]) {
  threadgroup char pool[16];
  threadgroup float * part = (threadgroup float *)pool;
  int width = *(constant int *)(args + 0);
  float eps = *(constant float *)(args + 4);
  int lane = (int)(tid.x & 31u);
  int warp = (int)(tid.x / 32u);
  int at = (int)tgid.x * width + (int)tid.x * 2;
  ushort2 pair = *(device packed_ushort2 *)(x + at);
  float v0 = (float)as_type<bfloat>(pair.x);
  float v1 = (float)as_type<bfloat>(pair.y);
  float mean = __agpu_group_sum(v0 + v1, part, lane, warp) / (float)width;
  float d0 = v0 - mean;
  float d1 = v1 - mean;
  float variance = __agpu_group_sum(d0 * d0 + d1 * d1, part, lane, warp) / (float)width;
  float r = rsqrt(variance + eps);
  bfloat o0 = (bfloat)(d0 * r * weight[(int)tid.x * 2]);
  bfloat o1 = (bfloat)(d1 * r * weight[(int)tid.x * 2 + 1]);
  *(device packed_ushort2 *)(out + at) = packed_ushort2(as_type<ushort>(o0), as_type<ushort>(o1));
}
