// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a function constant cannot have an initial value
// error 6:14: function constant 'c' cannot have an initializer
#include <metal_stdlib>
using namespace metal;
constant int c [[function_constant(0)]] = 1;
kernel void k(device int* out) { out[0] = c; }
