// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a pointer must name its address space
// error 6:20: pointer type must have explicit address space qualifier
#include <metal_stdlib>
using namespace metal;
float first(float* p) { return *p; }
kernel void k(device float* out) { out[0] = 1; }
