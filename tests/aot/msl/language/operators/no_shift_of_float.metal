// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: only integers can be shifted
// error 6:53: invalid operands to binary expression
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* out) { out[0] = out[0] << float4(1); }
