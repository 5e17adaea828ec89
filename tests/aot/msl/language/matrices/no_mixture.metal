// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a matrix cannot be made of vectors and scalars together
// error 6:48: no matching constructor for initialization of 'float2x2'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float2x2* out) { out[0] = float2x2(float2(1), 2, 3); }
