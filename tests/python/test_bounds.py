# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that are too small for a grid: what every launch is sure to touch is compared before it begins; what else leaves
its memory ends the process, and says which kernel it was."""

import pathlib
import subprocess
import sys
import textwrap
import unittest

import smelt
from support import numpy

COMMAND = pathlib.Path(smelt.__file__).resolve().parents[2] / "bin" / "smelt"

SOURCE = """#include <metal_stdlib>
using namespace metal;
struct S { float a; float b; };
kernel void copy(device const float* x, device float* y, uint i [[thread_position_in_grid]]) { y[i] = x[i]; }
kernel void vectors(device float4* x, uint3 at [[thread_position_in_grid]]) { x[at.x] *= 2; }
kernel void second(device S* s, uint2 at [[thread_position_in_grid]]) { s[at.x].b = 1; }
kernel void next(device float* x, uint i [[thread_position_in_grid]]) { x[i + 1] = 1; }
kernel void sums(device const float* x, device float* y, constant uint& n, uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < n; ++k) sum += x[i * n + k];
  y[i] = sum;
}
kernel void meets(device float* x, uint i [[thread_position_in_grid]], uint j [[thread_index_in_threadgroup]]) {
  threadgroup float shared[64];
  shared[j] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = shared[0];
}
kernel void guarded(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i < n) x[i] = 1;
}
kernel void early(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i >= n) return;
  x[i] = 1;
}
kernel void within(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) { x[min(i, n - 1)] = 1; }
kernel void across(device float* x, uint2 at [[thread_position_in_grid]]) { x[at.y] = 1; }
"""
STRAY = """kernel void stray(device float* x, device const uint* at, uint i [[thread_position_in_grid]]) { x[at[i]] = 1; }"""


@unittest.skipIf(numpy is None, "SKIPPED: no NumPy")
class Bounds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.package = smelt.compile(SOURCE, targets=["macos14"])
        cls.library = cls.package.load()

    def refused(self, kernel, *args, words, **options):
        before = [argument.copy() if isinstance(argument, numpy.ndarray) else None for argument in args]
        with self.assertRaises(smelt.BoundsError) as raised:
            self.library[kernel](*args, **options)
        self.assertEqual(raised.exception.code, "buffer_bounds")
        for word in (f"kernel '{kernel}'", *words):
            self.assertIn(word, str(raised.exception))
        for argument, was in zip(args, before):
            if was is not None:
                self.assertTrue((argument == was).all(), "nothing has been written")

    def test_a_buffer_that_is_too_short_is_known_before_the_launch(self):
        x, short = numpy.ones(1000, "f"), numpy.zeros(10, "f")
        where = ["thread (10, 0, 0)", "offset 40 (index 10)", "which has 40 bytes"]
        self.refused("copy", x, short, words=[*where, "writes 4 bytes", "buffer 1 'y'"])
        self.refused("copy", short, x, words=[*where, "reads 4 bytes", "buffer 0 'x'"], threads=1000)
        self.refused("copy", numpy.ones(1_000_000, "f"), short, words=where)  # on all of the device's threads
        self.refused("copy", x, short, words=where, threads=(11, 3))
        self.refused("copy", x, short, words=where, threadgroups=3, group_size=4)
        self.refused("vectors", short, words=["thread (2, 0, 0)", "offset 32"], threads=(3, 1, 1))
        self.refused("second", short, words=["thread (5, 0, 0)", "offset 44"], threads=(6, 2))
        self.refused("sums", x, short, 90, words=["thread (10, 0, 0)", "buffer 1 'y'"], threads=11)
        self.refused("meets", short, words=["thread (10, 0, 0)"], threads=64, group_size=64)

    def test_what_fits_runs(self):
        for grid in (1, 9, 10):
            x, y = numpy.ones(grid, "f"), numpy.zeros(grid, "f")
            self.library.copy(x, y)
            self.assertEqual(y.tolist(), x.tolist())
        x = numpy.ones(12, "f")
        self.library.vectors(x, threads=(3, 2, 2))
        self.library.second(x, threads=(6, 2))
        self.library.next(x, threads=11)
        self.library.meets(x, threads=12, group_size=12)
        self.library.sums(x, numpy.zeros(3, "f"), 4, threads=3)

    def test_what_may_be_right_is_not_judged(self):
        x = numpy.zeros(10, "f")
        for kernel in ("guarded", "early", "within"):
            x[:] = 0
            self.library[kernel](x, 10, threads=64)
            self.assertEqual(x.tolist(), [1] * 10, kernel)
        self.library.across(x, threads=(64, 10))

    def test_as_checked_code_says_it(self):
        checked = smelt.compile_shader(SOURCE, checked=True)
        x, short = numpy.ones(64, "f"), numpy.zeros(10, "f")
        texts = []
        for library in (self.library, checked):
            with self.assertRaises(smelt.BoundsError) as raised:
                library.copy(x, short)
            texts.append(str(raised.exception))
        self.assertEqual(texts[0] + ", at source.metal:4:101", texts[1])  # checked code knows its line

    def test_a_crash_says_which_kernel_it_was(self):
        code = f"""
        import faulthandler, sys, numpy, smelt
        if sys.argv[1] == "handled": faulthandler.enable()
        library = smelt.compile_shader({STRAY!r})
        grid = int(sys.argv[2])
        library.stray(numpy.zeros(4, "f"), numpy.full(grid, 1 << 31, "u4"), threads=grid)
        """
        for handled in ("handled", "not"):
            for grid in (1, 1_000_000):
                done = subprocess.run(
                    [sys.executable, "-c", textwrap.dedent(code), handled, str(grid)], capture_output=True, text=True, timeout=120
                )
                self.assertEqual(done.returncode, -11, done.stderr)
                text = f"kernel 'stray' left the memory that it was given (SIGSEGV); buffer 0 has 16 bytes, buffer 1 has {4 * grid} bytes"
                self.assertIn(text, done.stderr)
                self.assertIn("checked=True", done.stderr)
                self.assertEqual("Fatal Python error" in done.stderr, handled == "handled")

    def test_the_command(self):
        import tempfile

        with tempfile.TemporaryDirectory(prefix="smelt-bounds-") as folder:
            source = pathlib.Path(folder) / "stray.metal"
            source.write_text(STRAY)
            at = pathlib.Path(folder) / "at.npy"
            numpy.save(at, numpy.full(1, 1 << 31, "u4"))
            file = pathlib.Path(folder) / "stray.smelt"
            subprocess.run([COMMAND, "compile", source, "-o", file], check=True, capture_output=True)
            done = subprocess.run([COMMAND, "run", file, "stray", "--threads", "1", "f32[4]", at], capture_output=True, text=True)
            self.assertEqual(done.returncode, -11, done.stderr)
            self.assertIn("kernel 'stray' left the memory that it was given (SIGSEGV); buffer 0 has 16 bytes, buffer 1 has 4 bytes", done.stderr)
            self.assertIn("--checked", done.stderr)
            short = subprocess.run([COMMAND, "run", file, "stray", "--threads", "9", "f32[4]", at], capture_output=True, text=True)
            self.assertEqual(short.returncode, 1, short.stderr)
            self.assertIn("thread (1, 0, 0) reads 4 bytes at offset 4 (index 1) of buffer 1 'at', which has 4 bytes", short.stderr)


if __name__ == "__main__":
    unittest.main()
