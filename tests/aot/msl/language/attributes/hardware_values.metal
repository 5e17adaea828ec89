// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: hardware values as arguments
// run: 4
// out uint: 34 35 36 37
#include <metal_stdlib>
using namespace metal;
kernel void k(device uint* out, uint i [[thread_position_in_grid]], uint n [[threads_per_threadgroup]],
              uint lane [[thread_index_in_simdgroup]], uint width [[threads_per_simdgroup]], uint group [[threadgroup_position_in_grid]]) {
  out[i] = lane + width + group + n - 2;
}
