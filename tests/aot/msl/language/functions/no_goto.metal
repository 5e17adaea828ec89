// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: there is no `goto`
// error 6:46: 'goto' is not supported in Metal
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) { out[0] = 1; goto end; end: return; }
