# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory behind guards on a position's components: borders of pictures, where some lanes are off at every edge."""

import unittest

import smelt

try:
    import numpy as np
except ImportError:
    raise unittest.SkipTest("no NumPy") from None

STENCIL = """
#include <metal_stdlib>
using namespace metal;
kernel void plane(device const float* from, device float* to, uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  if (any(at == 0) || any(at == size - 1)) return;
  const uint i = at.y * size.x + at.x;
  to[i] = from[i] + 0.5f * (from[i - 1] + from[i + 1] + from[i - size.x] + from[i + size.x] - 4.0f * from[i]);
}
kernel void inside(device const int* from, device int* to, uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  const uint i = at.y * size.x + at.x;
  if (all(at > 1 && at < size - 2)) to[i] = from[i - 2] * 3 + from[i + 2] + from[i - 2 * size.x] - from[i + 2 * size.x] * 7;
  else to[i] = -from[i];
}
kernel void parts(device const int* from, device int* to, uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) {
  const bool3 first = at == 0, last = at == size - 1;
  const uint layer = size.x * size.y, i = at.z * layer + at.y * size.x + at.x;
  int sum = from[i];
  if (!first.x) sum += 2 * from[i - 1];
  if (!(last.x | first.y)) sum += 3 * from[i + 1] + from[i - size.x] + 4 * from[i + 1 - size.x];
  if (!any(first ^ last)) sum += from[i - layer] + from[i + layer] + from[i - layer - 1] + 5 * from[i + layer + 1];
  to[i] = sum + (first.x ? 1000 : 0) + (last.z ? 2000 : 0);
}
"""
SIZES = [(3, 3), (4, 3), (7, 5), (33, 4), (64, 3), (65, 9), (100, 7), (128, 2), (31, 31)]


DIVISIONS = """
#include <metal_stdlib>
using namespace metal;
#define DIVIDES(type)                                                                                                      \\
  kernel void divides_##type(device const type* from, device type* to, uint lane [[thread_index_in_simdgroup]],             \\
                             uint i [[thread_position_in_grid]]) {                                                         \\
    type x = type(7);                                                                                                      \\
    if (lane & 1) x = from[i] / ((type(lane) & 63) | 1);                                                                   \\
    if (lane % 4 > 1) x += from[i] % type(lane & 62);                                                                      \\
    if (lane > 2) x ^= type(100) / type(lane - 2);                                                                         \\
    to[i] = x;                                                                                                             \\
  }
DIVIDES(char) DIVIDES(uchar) DIVIDES(short) DIVIDES(ushort) DIVIDES(int) DIVIDES(uint) DIVIDES(long) DIVIDES(ulong)
kernel void behind_a_sum(device const uint* from, device uint* to, constant uint& first, uint lane [[thread_index_in_simdgroup]],
                         uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  const uint i = at.y * size.x + at.x, own = i + first;
  if ((own & 3) == 1) {
    const uint sum = simd_sum(lane);
    to[i] = sum + from[i] / (~own | 1);
  }
}
"""


class Guards(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(7)

    def each(self, name, groups, sizes=SIZES):
        for effort in ("fast", "balanced", "best"):
            library = smelt.compile_shader(STENCIL, cpu_effort=effort)
            for size in sizes:
                for group in groups:
                    with self.subTest(effort=effort, size=size, group=group):
                        yield getattr(library, name), size, group

    def test_lanes_that_are_off_do_not_divide(self):
        # The divisors are lanes' indices, which are 0 where the lane is off.
        types = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}
        for effort in ("fast", "balanced", "best"):
            library = smelt.compile_shader(DIVISIONS, cpu_effort=effort)
            for name, kind in types.items():
                values = self.random.integers(-100, 100, 77) if np.issubdtype(kind, np.signedinteger) else self.random.integers(0, 200, 77)
                for size in (77, 64, 5):
                    a, got = values[:size].astype(kind), np.zeros(size, kind)
                    getattr(library, f"divides_{name}")(a, got, threads=size, group_size=size)
                    lane = np.arange(size) % 32
                    wide = a.astype(np.int64)
                    toward_zero = lambda x, y: np.trunc(x / y).astype(np.int64)  # noqa: E731
                    x = np.where(lane & 1, toward_zero(wide, (lane & 63) | 1), 7)
                    some = np.maximum(lane & 62, 1)
                    x = np.where(lane % 4 > 1, x + wide - toward_zero(wide, some) * some, x)
                    x = np.where(lane > 2, x ^ 100 // np.maximum(lane - 2, 1), x)
                    with self.subTest(effort=effort, kind=name, size=size):
                        np.testing.assert_array_equal(got, x.astype(kind))

    def test_a_divisor_that_a_condition_makes_odd(self):
        # Where the condition holds, ~own | 1 is -own, which is 0 where a lane is off.
        for effort in ("fast", "balanced", "best"):
            kernel = smelt.compile_shader(DIVISIONS, cpu_effort=effort).behind_a_sum
            for first in range(4):
                own = np.arange(64, dtype=np.uint32) + np.uint32(first)
                on = (own & 3) == 1
                a, got = self.random.integers(0, 1 << 32, 64).astype(np.uint32), np.zeros(64, np.uint32)
                kernel(a, got, first, threads=(64, 1), group_size=(64, 1))
                lane = np.arange(64) % 32
                sums = np.repeat([np.sum(lane[:32], where=on[:32]), np.sum(lane[32:], where=on[32:])], 32)
                with self.subTest(effort=effort, first=first):
                    np.testing.assert_array_equal(got, np.where(on, sums + a // (~own | 1), 0).astype(np.uint32))

    def test_a_zero_divides_its_own_component_alone(self):
        library = smelt.compile_shader("""
#include <metal_stdlib>
using namespace metal;
kernel void constants(device const uint4* from, device uint4* to, uint i [[thread_position_in_grid]]) {
  to[2 * i] = from[i] / uint4(0, 1, 2, 3);
  to[2 * i + 1] = from[i] % select(uint4(0, 4, 0, 7), uint4(5), from[i] > 50u);
}
kernel void unrolled(device const short4* from, device short4* to, uint i [[thread_position_in_grid]]) {
  short4 sum = 0;
  for (short k = 0; k < 4; ++k) sum.yzw += (from[i] / (short4(0, 1, -2, 3) + short4(0, k, -k, k))).yzw;
  to[i] = sum;
}""")
        a = self.random.integers(0, 100, (33, 4)).astype(np.uint32)
        got = np.zeros((33, 2, 4), np.uint32)
        library.constants(a, got, threads=33, group_size=33)
        np.testing.assert_array_equal(got[:, 0, 1:], a[:, 1:] // [1, 2, 3])
        divisors = np.where(a > 50, 5, [0, 4, 0, 7])
        np.testing.assert_array_equal(got[:, 1][divisors != 0], (a % np.maximum(divisors, 1))[divisors != 0])
        b = self.random.integers(-3000, 3000, (33, 4)).astype(np.int16)
        sums = np.zeros((33, 4), np.int16)
        library.unrolled(b, sums, threads=33, group_size=33)
        want = sum(np.trunc(b[:, 1:] / [1 + k, -2 - k, 3 + k]) for k in range(4)).astype(np.int16)
        np.testing.assert_array_equal(sums[:, 1:], want)
        self.assertTrue((sums[:, 0] == 0).all())

    def test_a_vector_of_three_that_is_copied_keeps_its_components(self):
        # In lanes: a vector whose last component nobody gave a value was 0 as a whole.
        source = """
kernel void k(device uchar* to, device const uchar4* from, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const ulong at = ulong(lane + 7u);
  const uchar place = uchar(lane);
  to[i] = uchar(uchar(place + uchar(32)) & uchar(place & ((at & 3) == 2 ? uchar3(((device const uchar3*)from)[at])
                                                                        : uchar3(7, 15, 127) + uchar3(uchar(i)))[i % 3u]));
}"""
        i = np.arange(64)
        lane = i % 32
        bytes_ = np.arange(40 * 4, dtype=np.uint8).reshape(40, 4)
        taken = np.where((lane + 7) % 4 == 2, bytes_[lane + 7, i % 3], np.array([7, 15, 127])[i % 3] + i)
        for effort in ("fast", "balanced"):
            to = np.zeros(64, np.uint8)
            library = smelt.compile_shader("#include <metal_stdlib>\nusing namespace metal;" + source, store=False, cpu_effort=effort)
            library.k(to, bytes_, threads=64, group_size=32)
            np.testing.assert_array_equal(to, (lane + 32) & lane & taken)

    def test_a_stencil_keeps_its_border(self):
        for kernel, (width, height), group in self.each("plane", [(32, 1), (16, 4), (8, 8), (33, 2)]):
            # Whole numbers, so that no rounding differs.
            a = self.random.integers(-50, 50, (height, width)).astype(np.float32)
            want = np.full_like(a, 7)
            c = a[1:-1, 1:-1]
            want[1:-1, 1:-1] = c + 0.5 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1] - 4 * c)
            got = np.full_like(a, 7)
            kernel(a, got, threads=(width, height), group_size=group)
            np.testing.assert_array_equal(got, want)

    def test_both_arms_of_a_guard(self):
        for kernel, (width, height), group in self.each("inside", [(32, 1), (16, 2), (5, 5)]):
            a = self.random.integers(-1000, 1000, (height, width)).astype(np.int32)
            want = -a
            if width > 4 and height > 4:
                want[2:-2, 2:-2] = a[2:-2, :-4] * 3 + a[2:-2, 4:] + a[:-4, 2:-2] - a[4:, 2:-2] * 7
            got = np.zeros_like(a)
            kernel(a, got, threads=(width, height), group_size=group)
            np.testing.assert_array_equal(got, want)

    def test_components_of_several_comparisons(self):
        for kernel, size, group in self.each("parts", [(32, 1, 1), (4, 4, 4)], [(3, 3, 3), (33, 3, 2), (64, 4, 3), (5, 9, 4)]):
            width, height, depth = size
            a = self.random.integers(-1000, 1000, (depth, height, width)).astype(np.int32)
            flat, want = a.ravel(), np.zeros(a.size, np.int32)
            layer = width * height
            for i in range(a.size):
                at = (i % width, i // width % height, i // layer)
                first, last = [p == 0 for p in at], [p == s - 1 for p, s in zip(at, size)]
                total = int(flat[i])
                if not first[0]:
                    total += 2 * flat[i - 1]
                if not (last[0] or first[1]):
                    total += 3 * flat[i + 1] + flat[i - width] + 4 * flat[i + 1 - width]
                if not any(f != l for f, l in zip(first, last)):
                    total += flat[i - layer] + flat[i + layer] + flat[i - layer - 1] + 5 * flat[i + layer + 1]
                want[i] = total + (1000 if first[0] else 0) + (2000 if last[2] else 0)
            got = np.zeros_like(a)
            kernel(a, got, threads=size, group_size=group)
            np.testing.assert_array_equal(got.ravel(), want)


if __name__ == "__main__":
    unittest.main()
