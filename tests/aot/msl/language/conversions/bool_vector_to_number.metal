// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector of bool converts explicitly to a vector of numbers
// run: 1
// out float: 1 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) { const float2 v = float2(bool2(true, false)); out[0] = v.x; out[1] = v.y; }
