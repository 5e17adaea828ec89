// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: resources at program scope (Metal 3.2)
// gap: resources at program scope are not supported
#include <metal_stdlib>
using namespace metal;
device float* constant table [[buffer(0)]];
kernel void k(uint i [[thread_position_in_grid]]) { table[i] = 0; }
