// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: structs and vectors in threadgroup memory
// run: 2
// out float: 7 6
#include <metal_stdlib>
using namespace metal;
struct Cell { float3 at; int n; };
kernel void k(device float* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup Cell cells[2];
  cells[i].at = float3(i, 2, 3);
  cells[i].n = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const Cell c = cells[1 - i];
  out[i] = c.at.x + c.at.y + c.at.z + c.n;
}
