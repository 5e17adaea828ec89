// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: there is no `double`
// error 6:36: 'double' is not supported in Metal
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) { double x = 1; out[0] = x; }
