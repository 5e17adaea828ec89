// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: hardware values at program scope (Metal 3.1)
// run: 4
// out uint: 0 11 22 33
#include <metal_stdlib>
using namespace metal;
const uint at [[thread_position_in_grid]];
uint helper() { return at * 10 + at; }
kernel void k(device uint* out) { out[at] = helper(); }
