// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: unions
// run: 1
// out int: 1065353216
#include <metal_stdlib>
using namespace metal;
union Bits { float f; int i; };
kernel void k(device int* out) { Bits b; b.f = 1.0f; out[0] = b.i; }
