// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: there is no `new`
// error 6:50: 'new' is not supported in Metal
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { thread int* p = new int; out[0] = *p; }
