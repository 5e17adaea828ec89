// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a kernel's argument must have a complete type
// error 7:48: parameter 'x' points to the incomplete type 'Later'
#include <metal_stdlib>
using namespace metal;
struct Later;
kernel void k(device float* out, device Later* x) { out[0] = 1; }
