// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `?:` between constant memory and a value, for vectors, packed vectors, matrices and structs
// run: 2
// in 1 float: 1 2 3 4
// out float: 10 7
#include <metal_stdlib>
using namespace metal;
struct Pair { float a, b; };
kernel void k(device float* out, device const float4& c [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  const float4 a = i == 0 ? c : float4(1);
  const float4 b = i == 0 ? float4(0) : c * 0;
  device const Pair* pairs = (device const Pair*)&c;
  const Pair p = i == 0 ? Pair{0, 0} : pairs[0];
  out[i] = a.x + a.y + a.z + a.w + b.x + p.a + p.b;
}
