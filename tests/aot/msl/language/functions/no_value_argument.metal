// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a kernel cannot take an argument by value
// error 6:40: invalid type 'float' for input declaration in a kernel function
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, float x) { out[0] = x; }
