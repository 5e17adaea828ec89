// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: a position of type ushort
// run: 2
// out uint: 0 1
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* out, ushort i [[thread_position_in_grid]]) { out[i] = i; }
