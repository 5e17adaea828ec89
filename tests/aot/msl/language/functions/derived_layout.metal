// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: members of a derived structure come after the padding of a POD base, even if the base has vectors
// run: 1
// out int: 48 20 24 12 64 8
#include <metal_stdlib>
using namespace metal;
struct B1 { float3 v; uchar c; };        struct D1 : B1 { uchar d; };
struct B2 { packed_float3 v; uchar c; }; struct D2 : B2 { uchar d; };
struct B3 { half4 v; ushort c; };        struct D3 : B3 { ushort d; };
struct B4 { float v; uchar c; };         struct D4 : B4 { uchar d; };
struct B5 { float2x4 v; uchar c; };      struct D5 : B5 { uchar d; };
struct B6 { float v; uchar c; B6() {} }; struct D6 : B6 { uchar d; };
kernel void k(device int* out) {
  out[0] = sizeof(D1); out[1] = sizeof(D2); out[2] = sizeof(D3);
  out[3] = sizeof(D4); out[4] = sizeof(D5); out[5] = sizeof(D6);
}
