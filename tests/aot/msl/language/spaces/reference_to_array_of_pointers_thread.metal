// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a reference to an array of pointers may name `thread` as its own address space; the pointers may be `const`
// run: 2
// in 1 uint: 1 2
// in 2 uint: 10 20
// out uint: 11 22
#include <metal_stdlib>
using namespace metal;
static uint total(device uint* thread (&lists)[2], uint i) { return lists[0][i] + lists[1][i]; }
static uint first(device const uint* const thread (&lists)[2], uint i) { return lists[0][i]; }
kernel void k(device uint* out, device uint* a, device uint* b, uint i [[thread_position_in_grid]]) {
  device uint* both[2] = {a, b};
  device const uint* read[2] = {a, b};
  out[i] = total(both, i) + first(read, i) - a[i];
}
