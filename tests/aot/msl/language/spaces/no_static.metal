// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a function cannot have static variables
// error 6:45: variables in function scope cannot be declared static
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { static int n = 1; out[0] = n; }
