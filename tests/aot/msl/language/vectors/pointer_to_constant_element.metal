// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a pointer to an element in constant memory
// run: 3
// in 1 int: 5 6 7 8
// out int: 5 6 7
#include <metal_stdlib>
using namespace metal;
constant int* element(constant int4& v, uint i) { return &v[i]; }
kernel void k(device int* out, constant int4& v [[buffer(1)]], uint i [[thread_position_in_grid]]) { out[i] = *element(v, i); }
