// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a kernel in a namespace, and functions called by qualified names
// run: 1
// out int: 4
#include <metal_stdlib>
using namespace metal;
namespace outer { namespace inner { int f(int x) { return x + 1; } } }
kernel void k(device int* out) { out[0] = outer::inner::f(3); }
