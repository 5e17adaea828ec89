// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: the operands of arithmetic operators must be vectors of one type
// error 6:68: invalid operands to binary expression
#include <metal_stdlib>
using namespace metal;
kernel void k(device int4* out, device uint4* n) { out[0] = out[0] * n[0]; }
