// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a pointer to volatile memory must be declared volatile
// error 6:59: cannot initialize a variable of type 'device float4 *' with an rvalue of type 'volatile device float4 *'
#include <metal_stdlib>
using namespace metal;
kernel void k(volatile device float4* p) { device float4* q = &p[0]; *q = 1; }
