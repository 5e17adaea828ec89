// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <metal_stdlib>
using namespace metal;

// 512 threads sort blocks of 1,024 elements in threadgroup memory; steps between blocks run in device memory.
constant uint kBlock = 1024;

static void merge(threadgroup uint* block, uint first, uint index, uint size, uint from) {
  for (uint apart = from; apart > 0; apart /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint i = 2 * index - (index & (apart - 1));
    const bool rises = ((first + i) & size) == 0;
    const uint a = block[i], b = block[i + apart];
    const uint least = min(a, b), most = max(a, b);
    block[i] = rises ? least : most;
    block[i + apart] = rises ? most : least;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

kernel void sort_blocks(device uint* data, uint index [[thread_position_in_threadgroup]],
                        uint group [[threadgroup_position_in_grid]]) {
  threadgroup uint block[kBlock];
  const uint first = group * kBlock;
  block[index] = data[first + index];
  block[index + kBlock / 2] = data[first + index + kBlock / 2];
  for (uint size = 2; size <= kBlock; size *= 2) merge(block, first, index, size, size / 2);
  data[first + index] = block[index];
  data[first + index + kBlock / 2] = block[index + kBlock / 2];
}

kernel void merge_step(device uint* data, constant uint& size, constant uint& apart,
                       uint index [[thread_position_in_grid]]) {
  const uint i = 2 * index - (index & (apart - 1));
  const bool rises = (i & size) == 0;
  const uint a = data[i], b = data[i + apart];
  const uint least = min(a, b), most = max(a, b);
  data[i] = rises ? least : most;
  data[i + apart] = rises ? most : least;
}

kernel void merge_blocks(device uint* data, constant uint& size, uint index [[thread_position_in_threadgroup]],
                         uint group [[threadgroup_position_in_grid]]) {
  threadgroup uint block[kBlock];
  const uint first = group * kBlock;
  block[index] = data[first + index];
  block[index + kBlock / 2] = data[first + index + kBlock / 2];
  merge(block, first, index, size, kBlock / 2);
  data[first + index] = block[index];
  data[first + index + kBlock / 2] = block[index + kBlock / 2];
}
