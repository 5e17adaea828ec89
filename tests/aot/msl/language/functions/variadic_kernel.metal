// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a kernel cannot take a variable number of arguments
// error 6:13: kernel 'k' cannot take variable arguments
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, ...) { out[0] = 1; }
