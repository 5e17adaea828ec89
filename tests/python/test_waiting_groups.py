# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups that wait for each other in loops on memory: at a barrier of the whole grid, for the group before, for a lock."""

import os
import pathlib
import subprocess
import sys
import unittest

import support
from support import needs_numpy, numpy as np

import smelt

GRID_BARRIER = """
#include <metal_stdlib>
using namespace metal;
kernel void rounds(device atomic_uint* arrived [[buffer(0)]], device int* x [[buffer(1)]], device int* y [[buffer(2)]],
                   uint group [[threadgroup_position_in_grid]], uint tid [[thread_position_in_threadgroup]],
                   uint groups [[threadgroups_per_grid]], uint size [[threads_per_threadgroup]]) {
  for (uint round = 1; round <= 3; ++round) {
    device int* from = round % 2 ? x : y;
    device int* to = round % 2 ? y : x;
    to[group * size + tid] = from[(group + 1) % groups * size + tid] + 1;
    threadgroup_barrier(mem_flags::mem_device);
    if (tid == 0) {
      atomic_fetch_add_explicit(arrived, 1, memory_order_relaxed);
      while (atomic_load_explicit(arrived, memory_order_relaxed) < round * groups) {
      }
    }
    threadgroup_barrier(mem_flags::mem_device);
  }
}
// No barrier, so that the code is of threads rather than groups; an addition of nothing is a load.
kernel void meet(device atomic_uint* arrived [[buffer(0)]], device uint* seen [[buffer(1)]], uint at [[thread_position_in_grid]],
                 uint threads [[threads_per_grid]]) {
  atomic_fetch_add_explicit(arrived, 1, memory_order_relaxed);
  uint now = 0;
  do {
    now = atomic_fetch_or_explicit(arrived, 0, memory_order_relaxed);
  } while (now != threads);
  seen[at] = now;
}
kernel void volatile_flag(device volatile uint* flag [[buffer(0)]], device uint* out [[buffer(1)]], uint group [[threadgroup_position_in_grid]]) {
  if (group == 3) *flag = 7;
  while (*flag != 7) {
  }
  out[group] = *flag;
}
"""
LOOK_BACK = """
#include <metal_stdlib>
using namespace metal;
kernel void scan(device atomic_int* sums [[buffer(0)]], device const int* x [[buffer(1)]], device int* out [[buffer(2)]],
                 uint group [[threadgroup_position_in_grid]], uint tid [[thread_position_in_threadgroup]]) {
  threadgroup int before;
  const int own = simd_sum(x[group * 32 + tid]);
  if (tid == 0) {
    int sum = 0;
    if (group > 0)
      while ((sum = atomic_load_explicit(sums + group - 1, memory_order_relaxed)) < 0) {
      }
    before = sum;
    atomic_store_explicit(sums + group, sum + own, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[group * 32 + tid] = before + simd_prefix_inclusive_sum(x[group * 32 + tid]);
}
"""


@needs_numpy
class Waiting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = smelt.compile_shader(GRID_BARRIER)

    def rounds(self, groups, size=32, library=None):
        arrived, x, y = np.zeros(1, np.uint32), np.arange(groups * size, dtype=np.int32), np.zeros(groups * size, np.int32)
        (library or self.library).rounds(arrived, x, y, threadgroups=groups, group_size=size)
        return y, np.roll(np.arange(groups * size), -3 * size) + 3

    def test_a_barrier_of_the_whole_grid(self):
        for groups in (1, 2, 8, 40):
            with self.subTest(groups=groups):
                for _ in range(2):  # the second time the kernel's cost is known
                    got, want = self.rounds(groups)
                    self.assertTrue((got == want).all())

    def test_in_code_of_threads(self):
        for _ in range(2):
            arrived, seen = np.zeros(1, np.uint32), np.zeros(6, np.uint32)
            self.library.meet(arrived, seen, threads=6, group_size=1)
            self.assertEqual(seen.tolist(), [6] * 6)

    def test_a_volatile_flag(self):
        out = np.zeros(4, np.uint32)
        self.library.volatile_flag(np.zeros(1, np.uint32), out, threadgroups=4, group_size=1)
        self.assertEqual(out.tolist(), [7] * 4)

    def test_each_group_waits_for_the_one_before(self):
        groups = 3000  # more than run at the same time: they begin in order
        x = np.random.default_rng(1).integers(0, 9, groups * 32).astype(np.int32)
        out, sums = np.zeros(groups * 32, np.int32), np.full(groups, -1, np.int32)
        smelt.compile_shader(LOOK_BACK).scan(sums, x, out, threadgroups=groups, group_size=32)
        self.assertTrue((out == x.cumsum()).all())

    def test_more_groups_than_run_together(self):
        with self.assertRaisesRegex(smelt.UnsupportedError, "kernel 'rounds': its 300 groups wait for each other in a loop, and at most 256"):
            self.rounds(300)
        got, want = self.rounds(2)  # and nothing of that is left
        self.assertTrue((got == want).all())

    def test_checked_code_names_it(self):
        library = smelt.compile_shader(GRID_BARRIER, checked="races")
        with self.assertRaisesRegex(smelt.UnsupportedError, "a threadgroup waits in a loop for a later one, but in checked code"):
            self.rounds(2, library=library)

    def test_an_order_names_it(self):
        code = f"""
import sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import test_waiting_groups as test
try:
    test.Waiting.setUpClass()
    test.Waiting().rounds(2)
except test.smelt.UnsupportedError as error:
    print(error)
"""
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "SMELT_ORDER": "reverse"}, capture_output=True, text=True)
        self.assertIn("with SMELT_ORDER", done.stdout, done.stderr)

    def test_a_limit_ends_it(self):
        library = smelt.compile_shader(GRID_BARRIER, device=smelt.Device("cpu", launch_limit=0.3))
        arrived = np.zeros(1, np.uint32)
        with self.assertRaises(smelt.CancelledError):
            library.meet(arrived, np.zeros(64, np.uint32), threads=64, group_size=64)  # of one group: its threads never meet
        with self.assertRaises(smelt.CancelledError):
            library.meet(arrived, np.zeros(128, np.uint32), threads=128, group_size=64)


if __name__ == "__main__":
    unittest.main()
