// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a swizzle has no address
// error 6:56: a swizzle has no address, and neither has another value
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* out) { device float2* p = &out[0].xy; *p = 1; }
