// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: two arguments cannot share a buffer index
// error 6:60: cannot reserve 'buffer' resource location at index 0: 'x' has it
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(0)]], device float* y [[buffer(0)]]) { x[0] = y[0]; }
