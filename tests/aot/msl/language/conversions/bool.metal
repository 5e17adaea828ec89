// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: numbers convert to bool, and bool to numbers
// run: 1
// out int: 1 0 1
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { out[0] = bool(5); out[1] = bool(0.0f); out[2] = true; }
