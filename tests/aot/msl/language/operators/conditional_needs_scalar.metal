// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: the condition of `?:` must be a scalar
// error 6:46: value of type 'bool4' is not contextually convertible to 'bool'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* out) { out[0] = out[0] < 1 ? out[0] : out[1]; }
