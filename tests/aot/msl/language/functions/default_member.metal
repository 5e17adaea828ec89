// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: default values of members
// run: 1
// out int: 9
#include <metal_stdlib>
using namespace metal;
struct Config { int n = 9; };
kernel void k(device int* out) { Config c; out[0] = c.n; }
