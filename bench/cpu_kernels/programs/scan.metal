// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

// Inclusive sums: blocks of 1,024 elements by 256 threads, then the blocks' totals by one group, then both together.
kernel void scan_blocks(device const uint4* from, device uint4* to, device uint* totals,
                        uint at [[thread_position_in_grid]], uint group [[threadgroup_position_in_grid]],
                        uint index [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                        uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint sums[8];
  uint4 four = from[at];
  four.y += four.x;
  four.z += four.y;
  four.w += four.z;
  uint before = simd_prefix_exclusive_sum(four.w);
  if (lane == 31) sums[simdgroup] = before + four.w;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < simdgroup; ++i) before += sums[i];
  to[at] = four + before;
  if (index == 255) totals[group] = four.w + before;
}

// One group of 256 threads. Exclusive sums in place.
kernel void scan_totals(device uint* totals, constant uint& count, uint index [[thread_position_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint sums[8];
  const uint each = count / 256;
  device uint* const own = totals + index * each;
  uint sum = 0;
  for (uint i = 0; i < each; ++i) sum += own[i];
  uint before = simd_prefix_exclusive_sum(sum);
  if (lane == 31) sums[simdgroup] = before + sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < simdgroup; ++i) before += sums[i];
  for (uint i = 0; i < each; ++i) {
    const uint here = own[i];
    own[i] = before;
    before += here;
  }
}

kernel void add_totals(device uint4* to, device const uint* totals, uint at [[thread_position_in_grid]],
                       uint group [[threadgroup_position_in_grid]]) {
  to[at] += totals[group];
}
