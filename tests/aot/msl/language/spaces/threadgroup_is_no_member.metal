// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a member cannot name an address space, because it is in the address space of its object
// error 6:30: field may not be qualified with an address space
#include <metal_stdlib>
using namespace metal;
struct S { threadgroup float x; };
kernel void k(device float* out) { out[0] = 1; }
