// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)

kernel void add_scaled(device float * out [[buffer(0)]], device float * x [[buffer(1)]], device half * y [[buffer(2)]], constant uchar * args [[buffer(3)]], uint3 tgid [[threadgroup_position_in_grid]], uint3 tid [[thread_position_in_threadgroup]]) {
  int n = *(constant int *)(args + 0);
  float alpha = *(constant float *)(args + 4);
  bool flip = *(constant bool *)(args + 8);
  half shift = *(constant half *)(args + 10);
  bfloat scale = *(constant bfloat *)(args + 12);
  long wide = *(constant long *)(args + 16);
  int base = (int)tgid.x * 256;
  int at0 = base + (int)tid.x;
  int at1 = base + (int)tid.x + 128;
  bool m0 = at0 < n;
  bool m1 = at1 < n;
  float x0 = 0.0f;
  if (m0) x0 = x[at0];
  float x1 = 0.0f;
  if (m1) x1 = x[at1];
  float y0 = 0.0f;
  if (m0) y0 = (float)y[at0];
  float y1 = 0.0f;
  if (m1) y1 = (float)y[at1];
  float t0 = alpha * x0;
  float t1 = alpha * x1;
  float s0 = t0 + y0;
  float s1 = t1 + y1;
  s0 = flip ? -s0 : s0;
  s1 = flip ? -s1 : s1;
  s0 = s0 * (float)scale + (float)shift;
  s1 = s1 * (float)scale + (float)shift;
  s0 = s0 + (float)wide;
  s1 = s1 + (float)wide;
  if (m0) out[at0] = s0;
  if (m1) out[at1] = s1;
}
