// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of `python -m smelt.selftest`: buffers alone, so that every loader can call them, and results that have one right answer.
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], device const float* a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = fma(a[0], x[i], y[i]);
}

// Integers alone: any difference is an error of ours or of the loader's.
kernel void mixed(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_position_in_threadgroup]],
                  uint group [[threadgroup_position_in_grid]]) {
  uint h = i * 2654435761u ^ lane << 16 ^ group * 40503u;
  for (uint k = 0; k < 8; ++k) h = rotate(h ^ h >> 15, 7u) * 2246822519u + k;
  out[i] = popcount(h) + (h % 1000u) * 64u;
}

kernel void halves(device const half* x [[buffer(0)]], device float* y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  y[i] = float(x[i]) * 0.5f + select(0.0f, 1.0f, x[i] < 0.0h);
}

// A tree over threadgroup memory, with a barrier at each level.
kernel void summed(device const float* x [[buffer(0)]], device float* sums [[buffer(1)]], uint i [[thread_position_in_grid]],
                   uint lane [[thread_position_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  threadgroup float tree[64];
  tree[lane] = x[i];
  for (uint half_size = 32; half_size > 0; half_size /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane < half_size) tree[lane] += tree[lane + half_size];
  }
  if (lane == 0) sums[group] = tree[0];
}

kernel void counted(device const uint* x [[buffer(0)]], device atomic_uint* bins [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[x[i] % 16u], 1u, memory_order_relaxed);
}

kernel void shuffled(device const uint* x [[buffer(0)]], device uint* y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  y[i] = simd_sum(x[i] & 255u) + simd_shuffle_xor(x[i], 5);
}
