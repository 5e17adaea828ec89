// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `~` takes only integers
// error 6:46: invalid argument type 'device float4' to unary expression
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* out) { out[0] = ~out[0]; }
