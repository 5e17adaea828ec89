# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers where some lanes of a SIMD group are off, lane 0 among them: neither what a condition says of the lanes that
are on, nor how many there are, may change them."""

import unittest

import smelt

try:
    import numpy as np
except ImportError:
    raise unittest.SkipTest("SKIPPED: no NumPy") from None

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void loads(device const uint* a, device uint* o, constant uint& first, constant uint& n, uint i [[thread_position_in_grid]]) {
  uint t = i + first, s = 0;
  if ((t & 1) == 0) for (uint j = 0; j < n; ++j) s += a[t + 1 + j * 128];
  o[i] = s;
}
kernel void stores(device const uint* a, device uint* o, constant uint& first, uint i [[thread_position_in_grid]]) {
  uint t = i + first;
  if ((t & 1) == 0) {
    uint m = simd_max(a[i]);
    o[t + 1] = m;
  }
}
kernel void pairs(device uint* a, constant uint& n, constant uint& first, uint t [[thread_index_in_threadgroup]]) {
  for (uint k = 0; k < n; ++k) {
    uint i = t + first;
    if ((i & 1) == 0) { uint x = a[i], y = a[i + 1]; a[i] = min(x, y); a[i + 1] = max(x, y); }
    threadgroup_barrier(mem_flags::mem_device);
  }
}
kernel void reversed(device const uint* a, device uint* o, constant uint& n, constant uint& last, uint i [[thread_position_in_grid]]) {
  uint t = last - i, s = 0;
  if (t % 2 == 0) for (uint j = 0; j < n; ++j) s += a[t + 1 + j * 128];
  o[i] = s;
}
kernel void odd_width(device const uint* a, device uint* o, constant uint& n, uint2 g [[thread_position_in_grid]],
                      uint2 w [[threads_per_grid]]) {
  uint t = g.y * w.x + g.x, s = 0;
  if ((t & 1) == 0) for (uint j = 0; j < n; ++j) s += a[t + 1 + j * 128];
  o[t] = s;
}
kernel void tile(device const uint* a, device uint* o, constant uint& first, uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint part[128];
  for (uint k = i; k < 128; k += 64) part[k] = a[k];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint t = i + first;
  o[i] = (t & 1) == 0 ? part[t] * 1000 + part[t + 1] : 0;
}
kernel void fours(device const float* a, device float* o, constant uint& first, constant uint& n, uint i [[thread_position_in_grid]]) {
  uint t = i + first;
  float s = 0;
  if (t % 4 == 0) for (uint j = 0; j < n; ++j) s += a[t + j];
  o[i] = s;
}
kernel void sums(device const float* a, device uint* o, constant uint& on, uint i [[thread_position_in_grid]]) {
  float x = a[i];
  half h = half(x);
  if (i % 32 >= on) return;
  o[i * 8] = as_type<uint>(simd_sum(x));
  o[i * 8 + 1] = as_type<uint>(quad_sum(x));
  o[i * 8 + 2] = as_type<uint>(simd_prefix_inclusive_sum(x));
  o[i * 8 + 3] = as_type<uint>(quad_prefix_inclusive_sum(x));
  o[i * 8 + 4] = as_type<uint>(simd_sum(float2(0, x)).y);
  o[i * 8 + 5] = as_type<ushort>(simd_sum(h)) << 16;
  o[i * 8 + 6] = as_type<uint>(simd_prefix_exclusive_sum(x));
  o[i * 8 + 7] = as_type<uint>(simd_product(-x));
}
kernel void choices(device uint* o, device const uint* a, uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint t[64];
  t[i & 63] = i * 2;
  uint v = a[i];
  o[i] = i > 3 ? 29u : (i == 1 ? v : t[i & 63]);
}
kernel void choices_of_three(device uint* o, device uint* a, constant uint& c, uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint t[64];
  t[i & 63] = i * 2;
  uint v = a[i] + 1;
  o[i] = i > 4 ? (i == 5 ? a[i] : c) : i == 1 ? v : i == 2 ? c : t[i];
  uint kept = i == 3 ? v : i == 4 ? t[i] : a[i];
  o[i + 64] = kept;
}
"""


class OffLanes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        levels = ["x86-64-v3", "x86-64-v4"]
        cls.libraries = []
        for effort in ("fast", "balanced"):
            for level in levels:
                try:
                    device = smelt.Device("cpu", threads=1, cpu_level=level)
                except smelt.Error:
                    continue
                cls.libraries.append(smelt.compile_shader(SOURCE, fast_math=False, cpu_effort=effort, device=device))
        cls.libraries.append(smelt.compile_shader(SOURCE, fast_math=False, checked="memory"))
        cls.a = np.arange(2048, dtype=np.uint32)

    def each(self, count=64):
        for number, library in enumerate(self.libraries):
            with self.subTest(library=number):
                yield library, np.zeros(count, np.uint32)

    def equal(self, got, wanted):
        np.testing.assert_array_equal(got, np.array(wanted, got.dtype))

    def test_loads_of_a_neighbour(self):
        for library, out in self.each():
            library.loads(self.a, out, 1, 1, threads=64, group_size=64)
            self.equal(out, [i + 2 if i % 2 else 0 for i in range(64)])
            library.reversed(self.a, out, 1, 63, threads=64, group_size=64)
            self.equal(out, [64 - i if i % 2 else 0 for i in range(64)])

    def test_rows_of_odd_width(self):
        for library, out in self.each(39 * 8):
            library.odd_width(self.a, out, 1, threads=(39, 8), group_size=(32, 1))
            self.equal(out, [0 if t % 2 else t + 1 for t in range(39 * 8)])

    def test_stores_to_a_neighbour(self):
        for library, out in self.each(128):
            library.stores(self.a, out, 1, threads=64, group_size=64)
            self.equal(out, [0 if t % 2 == 0 or t < 3 or t > 65 else 31 if t < 34 else 63 for t in range(128)])

    def test_pairs_of_a_sort(self):
        for library, values in self.each(128):
            values[:] = (np.arange(128) * 37 + 11) % 128
            wanted = values.copy()
            wanted[2:66] = np.sort(wanted[2:66].reshape(-1, 2)).ravel()
            library.pairs(values, 1, 1, threads=64, group_size=64)
            self.equal(values, wanted)

    def test_tiles(self):
        for library, out in self.each():
            library.tile(self.a, out, 1, threads=64, group_size=64)
            self.equal(out, [(i + 1) * 1000 + i + 2 if i % 2 else 0 for i in range(64)])

    def test_fours(self):
        for library, _ in self.each():
            out = np.zeros(64, np.float32)
            library.fours(self.a.astype(np.float32), out, 1, 4, threads=64, group_size=64)
            self.equal(out, [4 * t + 6 if t % 4 == 0 else 0 for t in range(1, 65)])

    def test_sums_of_minus_zero(self):
        """-0 + -0 is -0, however many lanes there are; an exclusive sum begins with 0."""
        minus = 0x80000000
        for library, _ in self.each():
            for threads, on in ((32, 32), (32, 31), (32, 5), (32, 1), (33, 32), (8, 32)):
                out = np.zeros((threads, 8), np.uint32)
                library.sums(np.full(threads, -0.0, np.float32), out, on, threads=threads, group_size=threads)
                for i in range(threads):
                    self.equal(out[i], [minus] * 6 + [0, 0] if i % 32 < on else [0] * 8)

    def test_choices_between_memories(self):
        for library, out in self.each(128):
            a = self.a[100:164].copy()
            library.choices(out, a, threads=64, group_size=64)
            self.equal(out[:64], [29 if i > 3 else 101 if i == 1 else 2 * i for i in range(64)])
            library.choices_of_three(out, a, 7, threads=64, group_size=64)
            self.equal(out[:64], [7 if i > 5 else 105 if i == 5 else (0, 102, 7, 6, 8)[i] for i in range(64)])
            self.equal(out[64:], [104 if i == 3 else 8 if i == 4 else 100 + i for i in range(64)])


if __name__ == "__main__":
    unittest.main()
