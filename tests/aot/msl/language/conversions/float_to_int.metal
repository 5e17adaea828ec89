// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a float is rounded toward zero to an integer; NaN becomes 0
// run: 1
// in 1 float: -1.9 2.9 nan
// out int: -1 2 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, constant float* x [[buffer(1)]]) { for (int i = 0; i < 3; ++i) out[i] = int(x[i]); }
