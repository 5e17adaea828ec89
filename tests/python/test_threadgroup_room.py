# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static threadgroup memory read by lanes at constant distances, in groups that do not fill their last SIMD group: on the
CPU what such a group lacks is read with the rest."""

import array
import unittest

from support import library  # noqa: F401  (sets up the store)

import smelt

SIZE = 1200
ROUNDS = 40
TEXT = f"""#include <metal_stdlib>
using namespace metal;
kernel void sums(device const float* in, device float* out, uint t [[thread_index_in_threadgroup]],
                 uint g [[threadgroup_position_in_grid]], uint n [[threads_per_threadgroup]]) {{
  threadgroup float before[16];
  threadgroup float tile[{SIZE}];
  if (t < 16) before[t] = 1e30f;
  for (uint i = t; i < {SIZE}; i += n) tile[i] = in[g * {SIZE} + i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float up = 0, down = 0, crossed = 0, shared = 0, round = 0;
  #pragma unroll
  for (uint k = 0; k < {ROUNDS}; ++k) {{
    up = fma(tile[t + k], float(k + 1), up);
    down = fma(tile[{SIZE - 1} - t - k], float(k + 2), down);
    crossed = fma(tile[(t ^ 21) + 3 * k], float(k + 3), crossed);
    shared = fma(tile[(t / 8) * 16 + k], float(k + 4), shared);
    round = fma(tile[128 + char(t + g + 90 + k)], float(k + 5), round);
  }}
  if (before[t & 15] != 1e30f) up = 0;
  out[g * n + t] = up + 2 * down + 4 * crossed + 8 * shared + 16 * round;
}}"""


def wanted(tile, g, t):
    total = 0.0
    for k in range(ROUNDS):
        total += tile[t + k] * (k + 1) + 2 * tile[SIZE - 1 - t - k] * (k + 2)
        total += 4 * tile[(t ^ 21) + 3 * k] * (k + 3) + 8 * tile[t // 8 * 16 + k] * (k + 4)
        total += 16 * tile[(t + g + 90 + k + 128) % 256] * (k + 5)
    return total


class ThreadgroupRoom(unittest.TestCase):
    def test_groups_of_every_size(self):
        values = [(i * 37 + 11) % 64 - 32 for i in range(2 * SIZE)]  # sums are whole numbers below 2^24: no rounding
        data = array.array("f", values)
        for effort in ("fast", "balanced"):  # one function for groups of every size, and one for those that are full
            sums = smelt.compile_shader(TEXT, device=smelt.Device("cpu"), store=False, cpu_effort=effort).sums
            for group in (1, 7, 31, 32, 33, 64, 100, 128, 500):
                out = array.array("f", [0]) * (2 * group)
                sums(data, out, threads=2 * group, group_size=group)
                for g in range(2):
                    tile = values[g * SIZE : (g + 1) * SIZE]
                    for t in range(group):
                        self.assertEqual(out[g * group + t], wanted(tile, g, t), (effort, group, g, t))


if __name__ == "__main__":
    unittest.main()
