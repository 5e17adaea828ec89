// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a buffer's index is 0 to 30
// error 6:33: 'buffer' attribute parameter is out of bounds: must be between 0 and 30
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x [[buffer(31)]]) { x[0] = 1; }
