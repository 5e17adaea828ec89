// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: narrow scalars are promoted to int
// run: 1
// out int: 4 300
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { uchar a = 200, b = 100; out[0] = sizeof(a + b); out[1] = a + b; }
