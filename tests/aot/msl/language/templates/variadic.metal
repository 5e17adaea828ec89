// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: variadic templates and fold expressions
// run: 1
// out int: 10
#include <metal_stdlib>
using namespace metal;
template <typename... T> int sum(T... x) { return (x + ... + 0); }
kernel void k(device int* out) { out[0] = sum(1, 2, 3, 4); }
