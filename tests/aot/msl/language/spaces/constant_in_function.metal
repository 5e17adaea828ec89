// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a constant table in a function, with `const` before or after the address space
// run: 3
// out float: 111 222 333
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
  const constant float w[3] = {1, 2, 3};
  constant const float x[3] = {10, 20, 30};
  constant float y[3] = {100, 200, 300};
  out[i] = w[i] + x[i] + y[i];
}
