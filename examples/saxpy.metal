// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y[i] = a * x[i] + y[i], in Metal Shading Language; and the sum of each row, a SIMD group a row, for two types.
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x, device float* y, constant float& a, uint i [[thread_position_in_grid]]) {
  y[i] = fma(a, x[i], y[i]);
}

template <typename T>
kernel void row_sum(device const T* x, device float* sums, constant uint& columns,
                    uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
  for (uint i = lane; i < columns; i += 32) sum += float(x[row * columns + i]);
  sum = simd_sum(sum);
  if (lane == 0) sums[row] = sum;
}

template [[host_name("row_sum_float")]] kernel void row_sum(device const float*, device float*, constant uint&, uint, uint);
template [[host_name("row_sum_half")]] kernel void row_sum(device const half*, device float*, constant uint&, uint, uint);
