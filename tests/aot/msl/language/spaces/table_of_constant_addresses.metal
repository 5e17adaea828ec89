// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a table of addresses of constants, in a function and at program scope
// run: 4
// out float: 11 25 13 27
#include <metal_stdlib>
using namespace metal;
constant float kFirst[4] = {1, 2, 3, 4};
constant float kSecond[4] = {5, 6, 7, 8};
constant float* constant kBoth[2] = {kSecond, kFirst};
kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
  constant float* tables[2] = {kFirst, kSecond};
  out[i] = tables[i & 1][i] + (kBoth[i & 1] == kFirst ? 10 : 0) + (i & 1 ? 0 : 10) + (i & 1) * 9;
}
