// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a pointer to a function as a parameter
// run: 1
// out int: 9
#include <metal_stdlib>
using namespace metal;
int square(int x) { return x * x; }
int apply(int (*f)(int), int x) { return f(x); }
kernel void k(device int* out) { out[0] = apply(square, 3); }
