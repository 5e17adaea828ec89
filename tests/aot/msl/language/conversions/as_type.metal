// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `as_type` keeps the bits
// run: 1
// out int: 1065353216 16256
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out) {
  out[0] = as_type<int>(1.0f);
  out[1] = as_type<ushort2>(1.0f).y;
}
