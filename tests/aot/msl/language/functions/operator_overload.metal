// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: overloaded operators of classes
// run: 1
// out int: 7
#include <metal_stdlib>
using namespace metal;
struct Number { int n; };
Number operator+(Number a, Number b) { return {a.n + b.n}; }
kernel void k(device int* out) { out[0] = (Number{3} + Number{4}).n; }
