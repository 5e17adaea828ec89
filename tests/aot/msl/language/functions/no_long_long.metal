// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: there is no `long long`
// error 6:34: 'long long' is not supported in Metal
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { long long x = 1; out[0] = x; }
