// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a function cannot have variables in device memory
// error 6:49: automatic variable qualified with an address space
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) { device float x; out[0] = 1; }
