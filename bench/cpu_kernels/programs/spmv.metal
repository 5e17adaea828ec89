// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

// Compressed rows: row r has the elements starts[r] to starts[r + 1].
kernel void row_of_thread(device const uint* starts, device const uint* columns, device const float* values,
                          device const float* x, device float* y, uint row [[thread_position_in_grid]]) {
  const uint end = starts[row + 1];
  float sum = 0.0f;
  for (uint i = starts[row]; i < end; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

// Groups of 8 SIMD groups.
kernel void row_of_simdgroup(device const uint* starts, device const uint* columns, device const float* values,
                             device const float* x, device float* y, uint group [[threadgroup_position_in_grid]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
  const uint row = group * 8 + simdgroup, end = starts[row + 1];
  float sum = 0.0f;
  for (uint i = starts[row] + lane; i < end; i += 32) sum += values[i] * x[columns[i]];
  sum = simd_sum(sum);
  if (lane == 0) y[row] = sum;
}
