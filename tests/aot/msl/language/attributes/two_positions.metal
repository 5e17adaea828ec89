// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: two parameters cannot be the same hardware value
// error 6:73: attribute 'thread_position_in_grid' is on two parameters
#include <metal_stdlib>
using namespace metal;
kernel void k(device float* x, uint i [[thread_position_in_grid]], uint j [[thread_position_in_grid]]) { x[i] = j; }
