// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `++` and `--` on vectors
// run: 1
// out int: 1 3 3 2
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  int2 v = int2(1, 2);
  const int2 before = v++;
  out[0] = before.x;
  out[1] = v.y;
  ++v;
  out[2] = v.x;
  --v;
  out[3] = v.x;
}
