// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: signed and unsigned keep their bits
// run: 1
// in 1 int: -1
// out uint: 4294967295
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* out, constant int& x [[buffer(1)]]) { out[0] = x; }
