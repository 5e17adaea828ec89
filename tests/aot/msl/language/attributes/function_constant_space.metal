// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a function constant must be in constant memory
// error 6:5: function constant 'c' must be in address space 'constant'
#include <metal_stdlib>
using namespace metal;
int c [[function_constant(0)]];
kernel void k(device int* out) { out[0] = c; }
