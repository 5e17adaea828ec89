// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a literal without suffix is a float
// run: 1
// out int: 4 2 4
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { out[0] = sizeof(1.0); out[1] = sizeof(1.0h); out[2] = sizeof(1.0f); }
