// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: functions can be overloaded, as in C++
// run: 1
// out int: 1 2 3
#include <metal_stdlib>
using namespace metal;
int f(int) { return 1; }
int f(float) { return 2; }
int f(float4) { return 3; }
kernel void k(device int* out) { out[0] = f(1); out[1] = f(1.0); out[2] = f(float4(1)); }
