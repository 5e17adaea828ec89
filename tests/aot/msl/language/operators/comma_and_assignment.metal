// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: the result of an assignment is the object
// run: 1
// out int: 4 4
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { int a, b; a = b = 4; out[0] = a; out[1] = (b, a); }
