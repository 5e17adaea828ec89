// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a comparison of vectors returns a vector of bool
// run: 1
// out int: 1 0 1 1
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  const bool2 less = float2(1, 3) < float2(2);
  out[0] = less.x;
  out[1] = less.y;
  out[2] = any(less);
  out[3] = all(int2(1) == 1);
}
