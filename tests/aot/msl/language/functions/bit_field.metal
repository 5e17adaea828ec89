// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: bit-fields
// run: 1
// out int: 5 9
#include <metal_stdlib>
using namespace metal;
struct Fields { uint a : 3, b : 5; };
kernel void k(device int* out) { Fields f; f.a = 5; f.b = 9; out[0] = f.a; out[1] = f.b; }
