// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `!`, and logical AND and OR, work element by element
// run: 1
// out int: 0 1 1 0
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  const bool2 a = bool2(true, false), b = bool2(true, true);
  out[0] = (!a).x;
  out[1] = (a || b).y;
  out[2] = (a && b).x;
  out[3] = (a && b).y;
}
