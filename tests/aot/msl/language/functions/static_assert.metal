// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a failed `static_assert` reports its text
// error 6:15: static assertion failed due to requirement 'sizeof(float4) == 4': wide
#include <metal_stdlib>
using namespace metal;
static_assert(sizeof(float4) == 4, "wide");
kernel void k(device int* out) { out[0] = 1; }
