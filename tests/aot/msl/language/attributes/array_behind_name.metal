// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: an attribute between an array's name and its size
// run: 1
// out float: 5
#include <metal_stdlib>
using namespace metal;
struct Lists { device float* rows [[id(0)]][3]; constant uint* counts [[id(3)]]; };
kernel void k(device float* out, constant Lists& unused [[buffer(1)]]) { out[0] = sizeof(Lists) / 8 + 1; }
