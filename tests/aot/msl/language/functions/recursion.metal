// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a function may call itself
// run: 1
// out int: 120
#include <metal_stdlib>
using namespace metal;
int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
kernel void k(device int* out) { out[0] = factorial(5); }
