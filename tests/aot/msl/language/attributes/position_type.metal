// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a position must be of type ushort or uint
// error 6:39: type 'float4' is not valid for attribute 'thread_position_in_grid'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x, float4 i [[thread_position_in_grid]]) { x[0] = i.x; }
