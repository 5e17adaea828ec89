// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a comparison with NaN is false, except `!=`
// run: 1
// in 1 float: nan
// out int: 0 0 1
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, constant float& x [[buffer(1)]]) { out[0] = x < 1; out[1] = x == x; out[2] = x != x; }
