// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `?:` between two lvalues is an lvalue
// run: 2
// out float: 9 0 9 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device float2* out, uint i [[thread_position_in_grid]]) {
  out[i] = 0;
  (i & 1 ? out[i] : out[i & 1]).x = 9;
}
