// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: integers are rounded to the nearest float, ties to even
// run: 1
// in 1 int: 16777217
// out float: 16777216
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, constant int& x [[buffer(1)]]) { out[0] = x; }
