# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Try a Metal kernel out on a machine without Metal: compile one from text, run it on arrays, compare with NumPy.

    PYTHONPATH=build/release/python /usr/bin/python3 examples/try_kernel.py
"""
import numpy as np
import smelt

lib = smelt.compile_shader("""
#include <metal_stdlib>
using namespace metal;

kernel void gelu(device const float* x, device float* y, constant float& scale, uint i [[thread_position_in_grid]]) {
  const float v = x[i];
  y[i] = scale * 0.5f * v * (1.0f + precise::tanh(0.7978845608f * (v + 0.044715f * v * v * v)));
}

kernel void row_sum(device const half* x, device float* sums, constant uint& columns,
                    uint2 at [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
  for (uint i = lane; i < columns; i += 32) sum += float(x[at.y * columns + i]);
  sum = simd_sum(sum);
  if (lane == 0) sums[at.y] = sum;
}
""")
print("kernels:", dir(lib))

x = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
y = np.zeros_like(x)
lib.gelu(x, y, 2.0)  # threads: as many as the first array has elements, like dispatchThreads
wanted = x * (1 + np.tanh(0.7978845608 * (x.astype(np.float64) + 0.044715 * x.astype(np.float64) ** 3)))
print("gelu: largest error", np.abs(y - wanted).max())
assert np.allclose(y, wanted, rtol=1e-5, atol=1e-6)

rows = np.random.default_rng(2).standard_normal((7, 333)).astype(np.float16)
sums = np.zeros(7, np.float32)
lib.row_sum(rows, sums, 333, threads=(32, 7), group_size=(32, 1))
wanted = rows.astype(np.float64).sum(axis=1)
print("row_sum: largest error", np.abs(sums - wanted).max())
assert np.allclose(sums, wanted, atol=1e-3)
