// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sum of what the group's earlier work items gave. Groups of 256.
uint sum_before(uint own, local uint* sums) {
  const uint me = get_local_id(0);
  sums[me] = own;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 1; step < 256; step *= 2) {
    const uint left = me >= step ? sums[me - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[me] += left;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return sums[me] - own;
}

kernel void scan_blocks(global const uint4* restrict from, global uint4* restrict to, global uint* restrict totals) {
  local uint sums[256];
  const uint at = get_global_id(0);
  uint4 four = from[at];
  four.y += four.x;
  four.z += four.y;
  four.w += four.z;
  const uint before = sum_before(four.w, sums);
  to[at] = four + before;
  if (get_local_id(0) == 255) totals[get_group_id(0)] = four.w + before;
}

kernel void scan_totals(global uint* restrict totals, uint count) {
  local uint sums[256];
  const uint each = count / 256;
  global uint* const own = totals + get_local_id(0) * each;
  uint sum = 0;
  for (uint i = 0; i < each; ++i) sum += own[i];
  uint before = sum_before(sum, sums);
  for (uint i = 0; i < each; ++i) {
    const uint here = own[i];
    own[i] = before;
    before += here;
  }
}

kernel void add_totals(global uint4* restrict to, global const uint* restrict totals) {
  to[get_global_id(0)] += totals[get_group_id(0)];
}
