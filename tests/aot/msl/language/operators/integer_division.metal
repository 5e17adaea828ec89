// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: integer division rounds toward zero
// run: 1
// in 1 int: -7 2
// out int: -3 -1
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, constant int* x [[buffer(1)]]) { out[0] = x[0] / x[1]; out[1] = x[0] % x[1]; }
