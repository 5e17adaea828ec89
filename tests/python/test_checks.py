# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""checked="memory,races,init,sync" from Python: which exception, what it carries, the environment, and pytest."""

import array
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import smelt

# Every thread of a group loads a running mean and stores its new value, and input and output are one buffer.
UPDATE = """#include <metal_stdlib>
using namespace metal;
kernel void update(device float* out, constant float* in, uint2 at [[thread_position_in_grid]]) {
  threadgroup float sums[256];
  sums[at.y] = 1.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float mean = 0;
  for (uint i = 0; i < 256; ++i) mean += sums[i];
  float old = in[at.x];
  out[at.x] = old * 0.9f + mean / 256 * 0.1f;
}
kernel void part(device float* out, uint t [[thread_position_in_grid]]) {
  threadgroup float sums[64];
  if (t < 32) sums[t] = 1.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[t] = sums[t];
}
kernel void some(device float* out, uint t [[thread_position_in_grid]]) {
  if (t < 32) threadgroup_barrier(mem_flags::mem_threadgroup);
  out[t] = 1;
}
"""


class AdviceTest(unittest.TestCase):
    def test_the_command_that_is_named_makes_just_those_checks(self):
        package = smelt.compile(UPDATE, targets="macos14", name="k", store=False)
        for words in ("memory", "memory,races"):
            with self.assertRaises(smelt.Error) as raised:
                package.load(checked=words)
            self.assertIn(f" --checked={words} SOURCE", str(raised.exception))



# Threads that touch one place each, and those that only seem to.
PLACES = """#include <metal_stdlib>
using namespace metal;
kernel void line(device float* out, device const float* in, uint i [[thread_position_in_grid]]) {
  out[i] = in[i / 2] + 1;
}
kernel void plane(device float* out, device const float* in, uint2 i [[thread_position_in_grid]]) {
  out[i.y * 16 + i.x] += in[i.x];
}
kernel void column(device float* out, device const float* in, uint2 i [[thread_position_in_grid]]) {
  out[i.x] += in[i.y];
}
kernel void either(device float* out, device float* in, uint i [[thread_position_in_grid]]) {
  device float* p = in[0] > 0 ? in : out;
  out[i] = p[i + 1];
}
struct Record { int head; uchar tail[68]; };
struct Tail { uchar at[68]; };
kernel void records(device Record* out, device const Tail* in, uint i [[thread_position_in_grid]]) {
  uint at = 63 - i;
  out[at].head = at;
  *(device Tail*)out[at].tail = in[at];
}
"""


class PlaceTest(unittest.TestCase):
    """Buffers without books are those of which nothing can be told."""

    def setUp(self):
        self.kernels = smelt.compile_shader(PLACES, checked="memory,races", filename="places.metal", store=False)

    def races(self, name, *arguments, **grid):
        try:
            getattr(self.kernels, name)(*arguments, **grid)
        except smelt.RaceError as error:
            return {one["kind"] for one in error.findings}
        return set()

    def test_in_a_line(self):
        data, other = (array.array("f", [1.0] * 64) for _ in range(2))
        self.assertEqual(self.races("line", data, other, threads=64, group_size=32), set())
        self.assertEqual(self.races("line", data, data, threads=64, group_size=32), {"race"})
        view = memoryview(data)
        self.assertEqual(self.races("line", view[:32], view[32:], threads=32), set())
        self.assertEqual(self.races("line", view[:33], view[32:], threads=33), {"race"})

    def test_in_a_plane(self):
        data, other = (array.array("f", [1.0] * 256) for _ in range(2))
        self.assertEqual(self.races("plane", data, other, threads=(16, 8), group_size=(16, 4)), set())
        self.assertEqual(self.races("plane", data, other, threads=(17, 8), group_size=(17, 4)), {"race"})
        self.assertEqual(self.races("plane", data, other, threads=(16, 4, 2), group_size=(16, 4, 1)), {"race"})
        self.assertEqual(self.races("column", data, other, threads=(16, 1)), set())
        self.assertIn("race", self.races("column", data, other, threads=(16, 2)))

    def test_one_of_two_buffers(self):
        data, other = array.array("f", [1.0] * 65), array.array("f", [0.0] * 65)
        self.assertEqual(self.races("either", data, other, threads=64), {"race"})

    def test_a_buffer_that_begins_inside_of_a_cell(self):
        for skip in range(4):
            memory = bytearray(72 * 64 + 4)
            out = memoryview(memory)[skip : skip + 72 * 64]
            self.assertEqual(self.races("records", out, bytearray(68 * 64), threads=64), set(), skip)


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.kernels = smelt.compile_shader(UPDATE, checked="all", filename="update.metal", store=False)

    def test_one_buffer_bound_twice(self):
        data = array.array("f", [0.0] * 8)
        with self.assertRaises(smelt.RaceError) as raised:
            self.kernels.update(data, data, threads=(8, 256), group_size=(1, 256))
        self.assertEqual(raised.exception.code, "data_race")
        places = {frozenset((one["first"]["place"], one["second"]["place"])) for one in raised.exception.findings if one["kind"] == "race"}
        self.assertEqual(places, {frozenset({"update.metal:9:15", "update.metal:10:13"}), frozenset({"update.metal:10:13"})})
        self.assertEqual(raised.exception.findings[0]["memory"], "buffer 0 'out', also buffer 1 'in'")
        self.assertIsInstance(raised.exception, smelt.CheckError)

    def test_the_same_value_is_no_error(self):
        out, data = array.array("f", [0.0] * 2), array.array("f", [0.0] * 2)
        self.kernels.update(out, data, threads=(2, 256), group_size=(1, 256))
        self.assertAlmostEqual(out[1], 0.1)

    def test_unwritten(self):
        with self.assertRaises(smelt.UnwrittenError) as raised:
            self.kernels.part(array.array("f", [0.0] * 64), threads=64, group_size=64)
        self.assertEqual(raised.exception.findings[0]["first"]["place"], "update.metal:16:10")
        self.assertEqual(raised.exception.findings[0]["first"]["thread"], [32, 0, 0])

    def test_divergence(self):
        with self.assertRaises(smelt.DivergenceError) as raised:
            self.kernels.some(array.array("f", [0.0] * 64), threads=64, group_size=64)
        self.assertEqual(raised.exception.findings[0]["kind"], "barrier")

    def test_words(self):
        with self.assertRaisesRegex(smelt.ArgumentError, "luck"):
            smelt.compile_shader(UPDATE, checked="races,luck", store=False)

    def test_none_of_it_without_being_asked(self):
        kernels = smelt.compile_shader(UPDATE, checked="memory", store=False)
        data = array.array("f", [0.0] * 8)
        kernels.update(data, data, threads=(8, 256), group_size=(1, 256))


class EnvironmentTest(unittest.TestCase):
    TEST = """
import array, smelt
def kernel(text):
    return smelt.compile_shader("kernel void k(device float* m, uint i [[thread_position_in_grid]]) { " + text + " }").k
def test_races():
    kernel("m[0] = m[0] * 2 + i;")(array.array("f", [0.0]), threads=8)
def test_is_clean():
    kernel("m[i] = m[i] * 2 + i;")(array.array("f", [0.0] * 8), threads=8)
"""

    def run_here(self, *command, **environment):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "test_it.py").write_text(self.TEST)
            report = pathlib.Path(folder) / "report"
            result = subprocess.run(
                [sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=300,
                env={**os.environ, "SMELT_STORE": folder + "/store", "SMELT_CHECK_REPORT": str(report), **environment},
            )  # fmt: skip
            return result, [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []

    def test_environment(self):
        program = ("-c", "import test_it; test_it.test_is_clean(); test_it.test_races()")
        result, found = self.run_here(*program, SMELT_CHECK="races")
        self.assertIn("smelt.errors.RaceError", result.stderr)
        self.assertEqual({one["kind"] for one in found}, {"race"})
        result, found = self.run_here(*program)
        self.assertEqual((result.returncode, found), (0, []), result.stderr)
        result, found = self.run_here(*program, SMELT_CHECK="races", SMELT_CHECK_CONTINUE="1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual({one["kind"] for one in found}, {"race"})

    def test_pytest(self):
        if importlib.util.find_spec("pytest") is None:
            self.skipTest("pytest is absent")
        command = ("-m", "pytest", "-q", "-p", "smelt.pytest_plugin", "-p", "no:cacheprovider", "test_it.py")
        result, _ = self.run_here(*command, "--smelt-checked")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("1 failed, 1 passed", result.stdout)
        self.assertIn("kernel 'k': race on buffer 0 'm'[0]", result.stdout)
        result, _ = self.run_here(*command)
        self.assertIn("2 passed", result.stdout)


if __name__ == "__main__":
    unittest.main()
