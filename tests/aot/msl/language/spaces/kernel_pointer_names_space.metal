// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a kernel's pointer must name its address space
// error 6:22: pointer type must have explicit address space qualifier
#include <metal_stdlib>
using namespace metal;
kernel void k(float* out) { out[0] = 1; }
