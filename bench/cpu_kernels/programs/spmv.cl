// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
kernel void row_of_thread(global const uint* restrict starts, global const uint* restrict columns,
                          global const float* restrict values, global const float* restrict x,
                          global float* restrict y) {
  const uint row = get_global_id(0), end = starts[row + 1];
  float sum = 0.0f;
  for (uint i = starts[row]; i < end; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

// Groups of 256: 32 work items a row.
kernel void row_of_simdgroup(global const uint* restrict starts, global const uint* restrict columns,
                             global const float* restrict values, global const float* restrict x,
                             global float* restrict y) {
  local float part[256];
  const uint me = get_local_id(0), lane = me & 31, row = get_group_id(0) * 8 + me / 32, end = starts[row + 1];
  float sum = 0.0f;
  for (uint i = starts[row] + lane; i < end; i += 32) sum += values[i] * x[columns[i]];
  part[me] = sum;
  for (uint step = 16; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) part[me] += part[me + step];
  }
  if (lane == 0) y[row] = part[me];
}
