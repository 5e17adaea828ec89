// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: functions may be overloaded on the address space of a parameter, including constant memory
// run: 1
// in 1 int: 7
// out int: 2
#include <metal_stdlib>
using namespace metal;
int where(device const int* p) { return 1; }
int where(constant int* p) { return 2; }
kernel void k(device int* out, constant int* c [[buffer(1)]]) { out[0] = where(c); }
