// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a function constant as the index of a resource (Metal 2.0)
// gap: the argument of an attribute must be a constant expression
#include <metal_stdlib>
using namespace metal;
constant int kSlot [[function_constant(0)]];
kernel void k(device int* out [[buffer(kSlot)]]) { out[0] = 1; }
