// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: `[[kernel]]` is the same as `kernel`
// run: 2
// out int: 0 1
#include <metal_stdlib>
using namespace metal;
[[kernel]] void k(device int* out, uint i [[thread_position_in_grid]]) { out[i] = i; }
