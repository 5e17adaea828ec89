// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: an operation cannot have both half and bfloat operands
// error 6:84: invalid operands to binary expression ('half' and 'bfloat'): convert one to the other, or both to float
#include <metal_stdlib>
using namespace metal;
kernel void k(device half* h, device bfloat* b, device float* out) { out[0] = h[0] + b[0]; }
