// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: vectors do not convert implicitly to each other
// error 6:60: no viable conversion from 'device int4' to 'float4'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* out, device int4* x) { float4 v = x[0]; out[0] = v; }
