// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a string literal is in constant memory
// run: 1
// out int: 104
#include <metal_stdlib>
using namespace metal;
int first(constant const char* text) { return text[0]; }
kernel void k(device int* out) { out[0] = first("hello"); }
