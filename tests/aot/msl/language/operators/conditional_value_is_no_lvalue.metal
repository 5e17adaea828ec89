// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `?:` with a value in one arm is a value, and cannot be assigned to
// error 6:82: expression is not assignable
#include <metal_stdlib>
using namespace metal;
kernel void k(device float2* out, constant bool& c) { (c ? out[0] : float2(1)).x = 9; }
