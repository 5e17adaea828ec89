// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: hardware values at program scope (Metal 3.1)
// gap: program scope variable must reside in constant address space
#include <metal_stdlib>
using namespace metal;
uint at [[thread_position_in_grid]];
kernel void k(device uint* out) { out[at] = at; }
