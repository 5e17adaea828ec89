// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a vector of three elements has the size of a vector of four
// run: 1
// out int: 1
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { out[0] = as_type<int3>(float4(0, 0, 0, 0)).x + 1; }
