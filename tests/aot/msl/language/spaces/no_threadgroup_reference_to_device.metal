// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a reference cannot change its address space
// error 6:55: binding reference of type 'threadgroup float' to value of type 'device float' changes address space
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) { threadgroup float& r = out[0]; r = 1; }
