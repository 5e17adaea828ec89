// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a float does not convert implicitly to bfloat
// error 6:65: cannot initialize a variable of type 'bfloat' with an lvalue of type 'float'
#include <metal_stdlib>
using namespace metal;
kernel void k(device bfloat* out, device float* x) { bfloat v = x[0]; out[0] = v; }
