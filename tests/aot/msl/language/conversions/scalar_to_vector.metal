// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a scalar converts to a vector where a vector is expected
// run: 1
// out float: 3 3
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) { float2 v = 3; out[0] = v.x; out[1] = v.y; }
