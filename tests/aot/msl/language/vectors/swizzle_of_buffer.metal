// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: swizzles of vectors in a buffer, read and written
// run: 1
// in 1 float: 1 2 3 4
// out float: 4 3 2 9
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* out, device const float4* x [[buffer(1)]]) { out[0] = x[0].wzyx; out[0].w = 9; }
