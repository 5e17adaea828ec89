// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a name must be declared before it is used
// error 6:43: use of undeclared identifier 'nothing'
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { out[0] = nothing; }
