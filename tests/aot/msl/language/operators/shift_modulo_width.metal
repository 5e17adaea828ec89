// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a shift count is taken modulo the width of the left operand
// run: 1
// in 1 uint: 33
// out int: 2 2
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, constant uint& n [[buffer(1)]]) { out[0] = 1 << n; out[1] = (int2(1) << uint2(n)).y; }
