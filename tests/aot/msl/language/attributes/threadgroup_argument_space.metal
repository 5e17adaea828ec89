// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `threadgroup(n)` is only for threadgroup memory
// error 6:35: 'threadgroup' attribute does not apply to a parameter in address space 'device'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out [[threadgroup(0)]]) { out[0] = 1; }
