// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector constructor needs exactly as many components as the vector has: too many are an error
// error 6:46: no matching constructor for initialization of 'float2'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float2* out) { out[0] = float2(1, 2, 3); }
