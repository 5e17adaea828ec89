// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a cast cannot change the address space
// error 6:59: C-style cast from 'device float *' to 'threadgroup float *' converts between mismatching address spaces
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) { threadgroup float* p = (threadgroup float*)out; p[0] = 1; }
