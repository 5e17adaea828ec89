// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a function may have an assembler label
// run: 1
// in 1 uint: 3 4
// out uint: 97
#include <metal_stdlib>
using namespace metal;
uint mix_in(uint a, uint b) __asm("own.mix_in.i32");
uint mix_in(uint a, uint b) { return a * 31 + b; }
kernel void k(device uint* out [[buffer(0)]], device const uint* in [[buffer(1)]]) { out[0] = mix_in(in[0], in[1]); }
