// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a class may have a member with the name of a swizzle
// run: 1
// out float: 5
#include <metal_stdlib>
using namespace metal;
struct Point { float2 xy; };
kernel void k(device float* out) { Point p; p.xy = float2(2, 3); out[0] = p.xy.x + p.xy.y; }
