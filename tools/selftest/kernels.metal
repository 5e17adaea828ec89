// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of `smelt selftest`. cases.cpp has their inputs and computes the results in plain C++.
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x, device float* y, constant float& a, uint i [[thread_position_in_grid]]) {
  y[i] = a * x[i] + y[i];
}

kernel void saxpy_half(device const half* x, device half* y, constant float& a, uint i [[thread_position_in_grid]]) {
  y[i] = half(a * float(x[i]) + float(y[i]));
}

// Every thread of a three-dimensional grid writes its position.
kernel void positions(device uint* out, constant uint& width, constant uint& height, uint3 p [[thread_position_in_grid]]) {
  out[(p.z * height + p.y) * width + p.x] = p.x | p.y << 10 | p.z << 20;
}

// Integer arithmetic, shifts, division, 64-bit products. The sum wraps.
kernel void integers(device const int* a, device const int* b, device uint* out, uint i [[thread_position_in_grid]]) {
  const int x = a[i], y = b[i] | 1;
  out[i] = uint(x / y) + uint(x % y) * 3 + uint(x >> (y & 31)) + uint((long(x) * y) >> 32) + popcount(uint(x));
}

// The sum of 32 neighbours by exchange within a SIMD group.
kernel void simd_sums(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  float sum = x[i];
  for (ushort k = 16; k != 0; k >>= 1) sum += simd_shuffle_xor(sum, k);
  out[i] = sum;
}

// The sum of a threadgroup's 256 values, with a barrier at each level of the tree.
kernel void group_sums(device const float* x, device float* out, uint i [[thread_position_in_grid]],
                       uint t [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  threadgroup float tree[256];
  tree[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 128; k != 0; k >>= 1) {
    if (t < k) tree[t] += tree[t + k];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (t == 0) out[group] = tree[0];
}

// The softmax of one row of 256 per threadgroup.
kernel void softmax(device const float* x, device float* out, uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup float row[256];
  row[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float largest = row[0];
  for (uint k = 1; k < 256; ++k) largest = max(largest, row[k]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  row[t] = precise::exp(x[i] - largest);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 256; ++k) sum += row[k];
  out[i] = row[t] / sum;
}

// A matrix product in tiles of 16 x 16; n is a multiple of 16.
kernel void matmul(device const float* a, device const float* b, device float* c, constant uint& n, uint2 at [[thread_position_in_grid]],
                   uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile_a[256], tile_b[256];
  float sum = 0;
  for (uint k = 0; k < n; k += 16) {
    tile_a[16 * t.y + t.x] = a[at.y * n + k + t.x];
    tile_b[16 * t.y + t.x] = b[(k + t.y) * n + at.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 16; ++j) sum += tile_a[16 * t.y + j] * tile_b[16 * j + t.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[at.y * n + at.x] = sum;
}

// Counts into 64 bins by atomics that all threads contend for.
kernel void histogram(device const uint* values, device atomic_uint* bins, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[values[i] & 63], 1u, memory_order_relaxed);
}

// Threads that diverge: the steps of the Collatz sequence.
kernel void collatz(device const uint* start, device uint* steps, uint i [[thread_position_in_grid]]) {
  uint n = start[i], count = 0;
  while (n != 1 && count < 1000) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ++count;
  }
  steps[i] = count;
}
