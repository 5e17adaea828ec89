// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a constant table of a function template, whose values depend on its parameters
// run: 3
// out int: 4 5 6
#include <metal_stdlib>
using namespace metal;
template <typename T, int N> T at(uint i) {
  constant int numbers[3] = {N, N + 1, N + 2};
  constant T offsets[2] = {T(0), T(0)};
  return numbers[i] + offsets[i & 1];
}
kernel void k(device int* out, uint i [[thread_position_in_grid]]) { out[i] = at<int, 4>(i); }
