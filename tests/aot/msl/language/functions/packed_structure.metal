// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: in a packed structure, vectors, matrices and members of all other types are packed
// run: 1
// out int: 9 10 49 17 36
#include <metal_stdlib>
using namespace metal;
struct __attribute__((packed)) A { uchar a; float2 b; };
struct __attribute__((packed)) B { ushort a; packed_float2 b; };
struct __attribute__((packed)) C { uchar a; float3x3 b; };
struct Own { float4 v; Own() {} };
struct __attribute__((packed)) D { uchar a; Own b; };
template <typename T> struct __attribute__((packed)) E { half a; T b; ushort c; };
kernel void k(device int* out) {
  out[0] = sizeof(A); out[1] = sizeof(B); out[2] = sizeof(C); out[3] = sizeof(D); out[4] = sizeof(E<long3>);
}
