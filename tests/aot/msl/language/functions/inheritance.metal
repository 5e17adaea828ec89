// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a class may derive from another class
// run: 1
// out int: 3
#include <metal_stdlib>
using namespace metal;
struct Base { int n; int get() const { return n; } };
struct Derived : Base { int more; };
kernel void k(device int* out) { Derived d; d.n = 1; d.more = 2; out[0] = d.get() + d.more; }
