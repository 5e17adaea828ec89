// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `constexpr` functions in constant expressions
// run: 1
// out int: 24
#include <metal_stdlib>
using namespace metal;
constexpr int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
static_assert(factorial(4) == 24, "");
kernel void k(device int* out) { out[0] = factorial(4); }
