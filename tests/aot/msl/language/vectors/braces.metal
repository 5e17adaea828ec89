// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: vectors made with braces
// run: 1
// out uint: 1 2 3 4
#include <metal_stdlib>
using namespace metal;
constant constexpr uint2 kPair = {3, 4};
kernel void k(device uint* out) {
  const uint2 a = {1, 2};
  out[0] = a.x;
  out[1] = a.y;
  out[2] = kPair.x;
  out[3] = uint2{3, 4}.y;
}
