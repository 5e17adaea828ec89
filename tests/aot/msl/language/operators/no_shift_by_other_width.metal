// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector can only be shifted by a vector with the same number of elements
// error 6:68: invalid operands to binary expression
#include <metal_stdlib>
using namespace metal;
kernel void k(device int4* out, device uint2* n) { out[0] = out[0] << n[0]; }
