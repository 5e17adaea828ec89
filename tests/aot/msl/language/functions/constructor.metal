// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: constructors with member initialisers
// run: 1
// out int: 3 5
#include <metal_stdlib>
using namespace metal;
struct Pair { int a, b; Pair(int x) : a(x), b(x + 2) {} };
kernel void k(device int* out) { const Pair p(3); out[0] = p.a; out[1] = p.b; }
