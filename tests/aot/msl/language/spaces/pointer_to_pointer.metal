// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a pointer to a pointer names both address spaces
// run: 2
// out int: 5 6
#include <metal_stdlib>
using namespace metal;
void set(device int* thread* p, int n) { **p = n; }
kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
  device int* mine = out + i;
  set(&mine, 5 + i);
}
