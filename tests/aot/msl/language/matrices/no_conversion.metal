// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: there is no implicit conversion between matrices
// error 6:66: no viable conversion from 'device float2x2' to 'half2x2'
#include <metal_stdlib>
using namespace metal;
kernel void k(device half2x2* out, device float2x2* x) { half2x2 m = x[0]; out[0] = m; }
