// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: float converts implicitly to half
// run: 1
// out float: 0.5
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) { const float x = 0.5; const half h = x; out[0] = h; }
