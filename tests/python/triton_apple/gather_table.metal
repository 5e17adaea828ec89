// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

kernel void gather_table(device float * out [[buffer(0)]], device long * table [[buffer(1)]], device int * which [[buffer(2)]], constant uchar * args [[buffer(3)]], uint3 tgid [[threadgroup_position_in_grid]], uint3 tid [[thread_position_in_threadgroup]]) {
  int n = *(constant int *)(args + 0);
  float scale = *(constant float *)(args + 4);
  long at = table[which[tgid.x]];
  device float * source = (device float *)at;
  int i = (int)tid.x;
  bool inside = i < n;
  float v = 0.0f;
  if (inside) v = source[i];
  if (inside) out[(int)tgid.x * n + i] = v * scale;
}
