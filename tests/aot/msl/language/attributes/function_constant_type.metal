// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a function constant must be a scalar or a vector
// error 6:19: function constant 'c' has type 'float2x2'; it must be a scalar or a vector
#include <metal_stdlib>
using namespace metal;
constant float2x2 c [[function_constant(0)]];
kernel void k(device float* out) { out[0] = c[0][0]; }
