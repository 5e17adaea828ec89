// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a swizzle cannot mix xyzw and rgba
// error 6:55: no member named 'xg' in 'float4'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* out) { out[0].x = out[0].xg.x; }
