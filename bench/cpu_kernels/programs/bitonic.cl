// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define BLOCK 1024

void merge(local uint* block, uint first, uint item, uint size, uint from) {
  for (uint apart = from; apart > 0; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint i = 2 * item - (item & (apart - 1));
    const bool rises = ((first + i) & size) == 0;
    const uint a = block[i], b = block[i + apart];
    const uint least = min(a, b), most = max(a, b);
    block[i] = rises ? least : most;
    block[i + apart] = rises ? most : least;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

kernel void sort_blocks(global uint* restrict data) {
  local uint block[BLOCK];
  const uint item = get_local_id(0), first = get_group_id(0) * BLOCK;
  block[item] = data[first + item];
  block[item + BLOCK / 2] = data[first + item + BLOCK / 2];
  for (uint size = 2; size <= BLOCK; size *= 2) merge(block, first, item, size, size / 2);
  data[first + item] = block[item];
  data[first + item + BLOCK / 2] = block[item + BLOCK / 2];
}

kernel void merge_step(global uint* restrict data, uint size, uint apart) {
  const uint item = get_global_id(0), i = 2 * item - (item & (apart - 1));
  const bool rises = (i & size) == 0;
  const uint a = data[i], b = data[i + apart];
  const uint least = min(a, b), most = max(a, b);
  data[i] = rises ? least : most;
  data[i + apart] = rises ? most : least;
}

kernel void merge_blocks(global uint* restrict data, uint size) {
  local uint block[BLOCK];
  const uint item = get_local_id(0), first = get_group_id(0) * BLOCK;
  block[item] = data[first + item];
  block[item + BLOCK / 2] = data[first + item + BLOCK / 2];
  merge(block, first, item, size, BLOCK / 2);
  data[first + item] = block[item];
  data[first + item + BLOCK / 2] = block[item + BLOCK / 2];
}
