// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `~`, unary `-` and `+` on vectors
// run: 1
// out int: -2 -1 1
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { out[0] = (~int2(1)).x; out[1] = (-int2(1)).x; out[2] = (+int2(1)).x; }
