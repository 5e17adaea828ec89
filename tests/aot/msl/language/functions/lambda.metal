// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: lambdas, with captures
// run: 2
// out int: 10 12
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* out, uint i [[thread_position_in_grid]]) {
  const int by = 2;
  const auto twice = [&](int x) { return x * by; };
  out[i] = twice(5 + i);
}
