// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a reference must name its address space
// error 6:26: reference type must have explicit address space qualifier
#include <metal_stdlib>
using namespace metal;
float first(const float& p) { return p; }
kernel void k(device float* out) { out[0] = 1; }
