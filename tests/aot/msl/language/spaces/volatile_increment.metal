// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `++` and `--` on vectors in volatile memory
// run: 1
// in 1 int: 1 2
// out int: 1 3 3 2
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, volatile device int2& v [[buffer(1)]]) {
  const int2 before = v++;
  out[0] = before.x;
  out[1] = v.y;
  ++v;
  out[2] = v.x;
  --v;
  out[3] = v.x;
}
