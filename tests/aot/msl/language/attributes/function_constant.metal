// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a function constant without a value, and `is_function_constant_defined`
// run: 1
// out int: 7
#include <metal_stdlib>
using namespace metal;
constant int c [[function_constant(0)]];
constant int value = is_function_constant_defined(c) ? c : 7;
kernel void k(device int* out) { out[0] = value; }
