// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a struct with a pointer into a buffer
// run: 2
// out int: 5 6
#include <metal_stdlib>
using namespace metal;
struct View { device int* data; uint count; };
void fill(View v, uint i) { if (i < v.count) v.data[i] = 5 + i; }
kernel void k(device int* out, uint i [[thread_position_in_grid]]) { fill(View{out, 2}, i); }
