// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: an array of device pointers in the thread's memory, at a computed index
// run: 4
// out int: 0 11 2 13
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
  device int* ends[2] = {out, out};
  const int add[2] = {0, 10};
  ends[i & 1][i] = i + add[i & 1];
}
