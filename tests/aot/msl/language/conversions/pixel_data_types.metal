// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: pixel data types have the layout of the texture format in memory
// run: 1
// in 1 float: 0.25 1.5 -2 0.75
// out uint: 3204513600 255 4294918144 2147680320 1946158048 15 64 8
#include <metal_stdlib>
using namespace metal;
struct Kept {
  rgba8unorm<half4> a;
  r8unorm<float> b;
  rg8snorm<half2> c;
};
kernel void k(device uint* out [[buffer(0)]], device const float4* in [[buffer(1)]]) {
  device rgba8unorm<float4>* colour = (device rgba8unorm<float4>*)out;
  colour[0] = in[0];
  threadgroup Kept t;
  t.b = in[0].y;
  out[1] = uint(float(t.b) * 255);
  *(device rg16unorm<float2>*)(out + 2) = in[0].xy;
  device rgb9e5<float3>* shared = (device rgb9e5<float3>*)(out + 3);
  *shared = float3(in[0].xy, 0);
  *(device rg11b10f<half3>*)(out + 4) = half3(1.5h, -2.0h, 0.75h);
  out[5] = uint(float3(*shared).y * 10);
  t.a = half4(in[0]);
  const half4 back = t.a;
  out[6] = uint(rint(back.x * 255));
  out[7] = sizeof(Kept);
}
