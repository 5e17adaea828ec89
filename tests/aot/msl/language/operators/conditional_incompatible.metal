// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: the arms of `?:` must have the same type
// error 6:66: incompatible operand types ('float4' and 'int4')
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4* out, constant bool& c) { out[0] = c ? float4(1) : int4(1); }
