// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a constant in a function needs a value that is known at compile time
// error 7:18: variable 'w' in address space 'constant' must be initialized with a constant expression
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out) {
  constant float w = out[1];
  out[0] = w;
}
