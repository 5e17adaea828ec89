// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: vectors of bool hold 0 or 1
// run: 1
// out int: 1 0 3
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  const bool4 b = bool4(int4(5, 0, -1, 2));
  out[0] = b.x;
  out[1] = b.y;
  const int4 n = int4(b);
  out[2] = n.x + n.y + n.z + n.w;
}
