// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: there is no `thread_local`
// error 6:1: 'thread_local' is not supported in Metal
#include <metal_stdlib>
using namespace metal;
thread_local int n;
kernel void k(device int* out) { out[0] = 1; }
