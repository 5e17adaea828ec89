// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: all positions of a kernel must have the same number of elements
// error 6:74: expected input declarations with either all scalar types or all vector types
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x, uint i [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) { x[i] = n.x; }
