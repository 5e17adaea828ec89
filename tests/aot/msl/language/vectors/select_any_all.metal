// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `select`, `any` and `all` on vectors
// run: 1
// out int: 2 5 1 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  const int2 a = select(int2(1, 5), int2(2, 6), bool2(true, false));
  out[0] = a.x;
  out[1] = a.y;
  out[2] = any(bool2(false, true));
  out[3] = all(bool2(false, true));
}
