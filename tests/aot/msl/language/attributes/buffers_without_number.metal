// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: arguments without an index get the first free one
// run: 1
// in 1 int: 8
// in 2 int: 9
// out int: 8 9
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, constant int& a, constant int& b) { out[0] = a; out[1] = b; }
