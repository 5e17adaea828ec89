// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a kernel cannot be a member of a class
// error 6:24: kernel 'k' cannot be a member function
#include <metal_stdlib>
using namespace metal;
struct S { kernel void k(device float* out) { out[0] = 1; } };
