// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a swizzle with repeated components cannot be written to
// error 6:44: no setter defined for property 'xx'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* out) { out[0].xx = float2(1); }
