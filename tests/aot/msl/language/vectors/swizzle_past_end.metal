// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a swizzle must stay within the vector
// error 6:55: no member named 'z' in 'float2'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float2* out) { out[0].x = out[0].z; }
