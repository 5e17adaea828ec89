// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: constant vectors and structs in a function
// run: 2
// out float: 6 15
#include <metal_stdlib>
using namespace metal;
struct Pair { float2 at; int n; };
kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
  constant float3 rows[2] = {float3(1, 2, 3), float3(4, 5, 6)};
  constant Pair pair = {float2(0), 0};
  out[i] = rows[i].x + rows[i].y + rows[i].z + pair.at.x + pair.n;
}
