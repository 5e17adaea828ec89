// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a pointer cannot change its address space
// error 6:55: cannot initialize a variable of type 'threadgroup float *' with an lvalue of type 'device float *'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) { threadgroup float* p = out; p[0] = 1; }
