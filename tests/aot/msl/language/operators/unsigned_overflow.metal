// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: unsigned numbers wrap around
// run: 1
// out uint: 0 4294967295
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* out) { uint a = 0xffffffffu; out[0] = a + 1; out[1] = 0u - 1; }
