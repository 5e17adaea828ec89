// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: an attribute between an array parameter and its size
// run: 2
// in 1 int: 4 5
// out int: 4 5
#include <metal_stdlib>
using namespace metal;
kernel void k(device int out [[buffer(0)]][2], constant int x [[buffer(1)]][2], uint i [[thread_position_in_grid]]) {
  out[i] = x[i];
}
