// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `?:` between two expressions of type void
// run: 2
// out float: 1 5
#include <metal_stdlib>
using namespace metal;
void set(device float& x) { x = 5; }
kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
  bool done = false;
  out[i] = 1;
  i == 1 ? (done = true, set(out[i])) : (void)0;
}
