// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a kernel cannot be named `main`
// error 6:13: function cannot be called 'main' in Metal
#include <metal_stdlib>
using namespace metal;
kernel void main(device float* out) { out[0] = 1; }
