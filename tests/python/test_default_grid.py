# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many threads run when a call does not say it: what the kernel's position and the arrays say, else an error that asks."""

import unittest

from support import needs_numpy, numpy

import smelt
import smelt.compat.torch

SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void sharpen(device const float* a, device float* b, uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) { b[at.y * size.x + at.x] += 1; }
kernel void volume(device float* b, uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) { b[(at.z * size.y + at.y) * size.x + at.x] += 1; }
kernel void groups(device float* b, uint2 at [[threadgroup_position_in_grid]]) { b[at.x + at.y] = 1; }
kernel void wide(device float* b, uint3 at [[thread_position_in_grid]]) { b[at.x] += 1; }
kernel void colours(device float4* b, uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) { b[at.y * size.x + at.x] += 1; }
kernel void quads(device float4* b, uint i [[thread_position_in_grid]]) { b[i] += 1; }
kernel void bias(device const float* v, device float* y, uint i [[thread_position_in_grid]]) { y[i] += v[i % 4]; }
kernel void sums(device const float* x, device float* out, uint i [[thread_position_in_grid]]) { if (i < 2) out[i] = x[i]; }
"""


@needs_numpy
class DefaultGrid(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = smelt.compile_shader(SOURCE)

    def refused(self, kernel, *args, words=()):
        with self.assertRaises(smelt.ArgumentError) as raised:
            self.library[kernel](*args)
        self.assertEqual(raised.exception.code, "threads_missing")
        for word in words:
            self.assertIn(word, str(raised.exception))

    def test_two_dimensions_of_an_array_of_two(self):
        for shape in ((8, 8), (3, 5), (1, 7)):
            b = numpy.zeros(shape, "f")
            self.library.sharpen(numpy.ones(shape, "f"), b)
            self.assertTrue((b == 1).all(), shape)

    def test_another_array_does_not_say(self):
        for shape in ((64,), (2, 4, 8)):
            self.refused("sharpen", numpy.ones(shape, "f"), numpy.zeros(64, "f"), words=["position has 2 dimensions", f"argument 0 'a' has {len(shape)}", "threads=(width, height)"])
        self.refused("volume", numpy.zeros((4, 4), "f"), words=["3 dimensions", "threads=(width, height, depth)"])
        self.refused("groups", numpy.zeros(8, "f"), words=["2 dimensions"])

    def test_three_dimensions(self):
        b = numpy.zeros((2, 3, 5), "f")
        self.library.volume(b)
        self.assertTrue((b == 1).all())

    def test_only_dimensions_that_are_read_count(self):
        b = numpy.zeros(6, "f")
        self.library.wide(b)
        self.assertTrue((b == 1).all())

    def test_elements_are_what_the_kernel_declares(self):
        for shape in ((8, 4), (32,), (2, 4, 4)):
            b = numpy.zeros(shape, "f")
            self.library.quads(b)
            self.assertTrue((b == 1).all(), shape)
        image = numpy.zeros((3, 5, 4), "f")
        self.library.colours(image)
        self.assertTrue((image == 1).all())

    def test_a_first_array_that_is_smaller_than_a_result(self):
        self.refused("bias", numpy.ones(4, "f"), numpy.zeros(1000, "f"), words=["argument 0 'v', has 4 elements", "argument 1 'y'", "has 1000", "threads="])
        y = numpy.zeros(1000, "f")
        self.library.bias(numpy.ones(4, "f"), y, threads=1000)
        self.assertEqual(y.sum(), 1000)
        self.library.sums(numpy.ones(100, "f"), out := numpy.zeros(2, "f"))
        self.assertEqual(out.tolist(), [1, 1])

    def test_the_same_of_a_package(self):
        package = smelt.compile(SOURCE, targets=["macos14"])
        library = smelt.open(bytes(package)).load()
        b = numpy.zeros((3, 5), "f")
        library.sharpen(numpy.ones((3, 5), "f"), b)
        self.assertTrue((b == 1).all())

    def test_as_upstream_the_first_array_counts(self):
        upstream = smelt.compat.torch.compile_shader(SOURCE)
        y = numpy.zeros(1000, "f")
        upstream.bias(numpy.ones(4, "f"), y)
        self.assertEqual(y.sum(), 4)
        b = numpy.zeros((8, 8), "f")
        upstream.sharpen(numpy.ones((8, 8), "f"), b)
        self.assertEqual(b.sum(), 64)


if __name__ == "__main__":
    unittest.main()
