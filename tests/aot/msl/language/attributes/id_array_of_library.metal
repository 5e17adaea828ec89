// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `array<T*, N>` with an explicit index
// run: 1
// out int: 24
#include <metal_stdlib>
using namespace metal;
struct Lists { array<device float*, 3> rows [[id(2)]]; };
kernel void k(device int* out, constant Lists& unused [[buffer(1)]]) { out[0] = sizeof(Lists); }
