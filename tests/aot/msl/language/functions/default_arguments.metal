// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: default arguments
// run: 1
// out int: 3 5
#include <metal_stdlib>
using namespace metal;
int add(int a, int b = 2) { return a + b; }
kernel void k(device int* out) { out[0] = add(1); out[1] = add(1, 4); }
