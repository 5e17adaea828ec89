// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a variable at program scope must be in constant memory
// error 6:5: program scope variable must reside in constant address space
#include <metal_stdlib>
using namespace metal;
int counter = 0;
kernel void k(device int* out) { out[0] = counter; }
