// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: vectors of bool cannot be added
// error 6:52: invalid operands to binary expression
#include <metal_stdlib>
using namespace metal;
kernel void k(device bool4* out) { out[0] = out[0] + out[1]; }
