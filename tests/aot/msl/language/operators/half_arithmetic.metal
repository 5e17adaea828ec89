// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: half with half is computed in half
// run: 1
// out float: 2048
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) { half a = 2048, b = 1; out[0] = a + b; }
