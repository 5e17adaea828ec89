// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector constructor needs exactly as many components as the vector has: too few are an error
// error 6:46: no matching constructor for initialization of 'float4'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* out) { out[0] = float4(1, 2); }
