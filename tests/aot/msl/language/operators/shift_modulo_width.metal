// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a shift counts modulo the width of the left side
// run: 1
// in 1 uint: 33
// out int: 2 2
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, constant uint& n [[buffer(1)]]) { out[0] = 1 << n; out[1] = (int2(1) << uint2(n)).y; }
