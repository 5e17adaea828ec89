// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: comparisons take vectors of one type
// error 6:73: invalid operands to binary expression
#include <metal_stdlib>
using namespace metal;
kernel void k(device int4* out, device uint4* n) { out[0] = int4(out[0] < n[0]); }
