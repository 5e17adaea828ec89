// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector never converts to a scalar
// error 6:60: no viable conversion from 'device float2' to 'float'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, device float2* x) { float v = x[0]; out[0] = v; }
