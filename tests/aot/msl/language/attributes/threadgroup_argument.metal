// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: threadgroup memory cannot have a buffer index
// error 6:55: 'buffer' attribute does not apply to a parameter in address space 'threadgroup'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x, threadgroup float* t [[buffer(1)]]) { x[0] = t[0]; }
