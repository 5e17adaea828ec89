// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a reference to an array of pointers may omit its own address space, as with Apple's compiler
// run: 4
// in 1 uint: 1 2 3 4
// in 2 uint: 10 20 30 40
// out uint: 11 22 33 44
#include <metal_stdlib>
using namespace metal;
static uint total(device uint* (&lists)[2], uint i) { return lists[0][i] + lists[1][i]; }
kernel void k(device uint* out, device uint* a, device uint* b, uint i [[thread_position_in_grid]]) {
  device uint* both[2] = {a, b};
  out[i] = total(both, i);
}
