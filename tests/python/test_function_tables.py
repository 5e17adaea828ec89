# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that call visible functions through a table: on the CPU, from Metal source and from finished libraries."""

import pathlib
import tempfile
import unittest

import smelt

try:
    import numpy as np
except ModuleNotFoundError:
    raise unittest.SkipTest("SKIPPED: no NumPy") from None

SOURCE = """
#include <metal_stdlib>
using namespace metal;
using Shade = float4(float2, uint, device const float*);
constant float scale[4] = {1, 10, 100, 1000};
[[visible]] float4 red(float2 at, uint i, device const float* x) { return float4(at.x + x[i], 0, 0, 1); }
[[visible]] float4 blue(float2 at, uint i, device const float* x) { return float4(0, at.y, x[i] * scale[i % 4], 1); }
[[visible]] float4 sums(float2 at, uint i, device const float* x) {
  float sum = 0;
  for (uint k = 0; k <= i; ++k) sum += x[k];
  return float4(sum, sum, sum, at.x);
}
[[visible]] float half_of(float x) { return x / 2; }
[[visible]] void add(device float* out, uint i, float x) { out[i] += x; }

kernel void shade(device float4* out, visible_function_table<Shade> table, device const float* x,
                  device const uint* which, uint i [[thread_position_in_grid]]) {
  out[i] = table[which[i]](float2(i, 2 * i), i, x);
}
kernel void facts(device uint* out, visible_function_table<float(float)> some, visible_function_table<Shade> table) {
  out[0] = some.size();
  out[1] = some.empty();
  out[2] = is_null_visible_function_table(some);
  out[3] = table.size();
}
kernel void twice(device float* out, visible_function_table<void(device float*, uint, float)> table,
                  visible_function_table<float(float)> numbers, threadgroup float* shared [[threadgroup(0)]],
                  uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]],
                  uint n [[threads_per_threadgroup]]) {
  shared[t] = numbers[0](float(i));
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 3; ++k) table[0](out, i, shared[n - 1 - t]);
}
struct Corner { float4 place [[position]]; float shade; };
vertex Corner corner(uint i [[vertex_id]], visible_function_table<float(float)> table [[buffer(30)]]) {
  return {float4(i), table[0](float(i))};
}
fragment float4 colour(Corner in [[stage_in]], visible_function_table<float(float)> table [[buffer(29)]]) {
  return float4(table[1](in.shade), dfdx(table[0](in.shade)), 0, 1);
}
kernel void plain(device float* out, uint i [[thread_position_in_grid]]) { out[i] = i; }
"""
NAMES = ["red", "blue", "sums"]


def expected(which, x):
    rows = []
    for i, one in enumerate(which):
        if one == 0:
            rows.append([i + x[i], 0, 0, 1])
        elif one == 1:
            rows.append([0, 2 * i, x[i] * 10.0 ** (i % 4), 1])
        else:
            rows.append([x[: i + 1].sum()] * 3 + [i])
    return np.array(rows, np.float32)


class FunctionTables(unittest.TestCase):
    def setUp(self):
        generator = np.random.default_rng(7)
        self.x = generator.integers(-8, 8, 100).astype(np.float32)
        self.which = generator.integers(0, 3, 100).astype(np.uint32)
        self.out = np.zeros((100, 4), np.float32)

    def shade(self, library, names=NAMES, **options):
        self.out[:] = -1
        library.shade(self.out, names, self.x, self.which, threads=100, **options)
        return self.out

    def test_each_thread_calls_what_its_entry_says(self):
        library = smelt.compile_shader(SOURCE)
        want = expected(self.which, self.x)
        np.testing.assert_array_equal(self.shade(library), want)
        np.testing.assert_array_equal(self.shade(library, group_size=7), want)
        order = ("sums", "red", "blue")
        moved = expected(np.array([2, 0, 1])[self.which], self.x)
        np.testing.assert_array_equal(self.shade(library, order), moved)

    def test_checked_code_sees_what_the_functions_touch(self):
        library = smelt.compile_shader(SOURCE, checked="all")
        np.testing.assert_array_equal(self.shade(library), expected(self.which, self.x))
        with self.assertRaisesRegex(smelt.BoundsError, "buffer 2 'x'"):
            library.shade(self.out, NAMES, self.x[:50], self.which, threads=100)

    def test_a_table_knows_its_size_and_whether_it_is_there(self):
        library = smelt.compile_shader(SOURCE)
        facts = np.zeros(4, np.uint32)
        library.facts(facts, ["half_of", None, "half_of"], NAMES, threads=1)
        self.assertEqual(facts.tolist(), [3, 0, 0, 3])
        library.facts(facts, [], None, threads=1)
        self.assertEqual(facts.tolist(), [0, 1, 0, 0])
        library.facts(facts, None, [None], threads=1)
        self.assertEqual(facts.tolist(), [0, 1, 1, 1])

    def test_functions_write_and_barriers_stay(self):
        for checked in (None, "all"):
            library = smelt.compile_shader(SOURCE, **({"checked": checked} if checked else {}))
            out = np.ones(64, np.float32)
            library.twice(out, ["add"], ["half_of"], threads=64, group_size=16, threadgroup_memory=64)
            order = np.arange(64).reshape(4, 16)[:, ::-1].reshape(-1)
            np.testing.assert_array_equal(out, 1 + 3 * order / 2)

    def test_vertex_and_fragment_functions_call_through_tables(self):
        library = smelt.compile_shader(SOURCE)
        shaded = library.corner(table=["half_of"], threads=6)
        np.testing.assert_array_equal(shaded["shade"], np.arange(6) / 2)
        np.testing.assert_array_equal(shaded["place"], np.repeat(np.arange(6), 4).reshape(6, 4))
        shade = np.arange(8, dtype=np.float32) ** 2
        colours = library.colour(shade=shade, table=["half_of", "half_of"])["color0"]
        np.testing.assert_array_equal(colours[:, 0], shade / 2)
        np.testing.assert_array_equal(colours[:, 1], np.repeat((shade[1::2] - shade[0::2]) / 2, 2))
        with self.assertRaisesRegex(smelt.Error, "calls entry 1 of a function table"):
            library.colour(shade=shade, table=["half_of"])

    def test_loaders_that_know_no_tables_refuse_their_code(self):
        def format_of(source):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "kernels.smelt"
                smelt.compile(source, targets="macos14").save(path)
                data = path.read_bytes()
            at = data.index(b"SMCS")
            return int.from_bytes(data[at + 4 : at + 6], "little"), int.from_bytes(data[at + 6 : at + 8], "little")

        plain = "kernel void plain(device float* out) { out[0] = 1; }"
        self.assertEqual(format_of(SOURCE), (7, 7))
        self.assertEqual(format_of(plain), (2, 2))

    def test_an_entry_without_a_function_is_an_error(self):
        for checked in (None, "memory"):
            library = smelt.compile_shader(SOURCE, **({"checked": checked} if checked else {}))
            for names in (["red", None, "sums"], ["red"], [], None, ["red", "half_of", "sums"]):
                with self.assertRaisesRegex(smelt.Error, "calls entry [012] of a function table, which holds no visible"):
                    self.shade(library, names)
            np.testing.assert_array_equal(self.shade(library), expected(self.which, self.x))

    def test_what_is_no_table_is_refused(self):
        library = smelt.compile_shader(SOURCE)
        rows = [
            (["green"], "green"),
            (["shade"], "'shade' is a kernel function; a table has visible functions"),
            ([3], "want names of visible functions, got int"),
            (self.x, "want a list of their names"),
            ("red", "want a list of their names"),
        ]
        for table, message in rows:
            with self.subTest(message), self.assertRaisesRegex(smelt.Error, message):
                self.shade(library, table)

    def test_a_function_with_constants_is_in_no_table_and_in_nobodys_way(self):
        source = SOURCE + """
constant float factor [[function_constant(0)]];
[[visible]] float4 scaled(float2 at, uint i, device const float* x) { return float4(x[i] * factor); }
"""
        library = smelt.compile_shader(source)
        np.testing.assert_array_equal(self.shade(library), expected(self.which, self.x))
        for names in (["red", "scaled", "sums"], [None, None, "scaled"]):
            with self.assertRaisesRegex(smelt.Error, "'scaled' reads function constants, so it cannot be called through a table"):
                self.shade(library, names)

    def test_a_finished_library_runs_without_its_source(self):
        package = smelt.compile(SOURCE, targets="macos14")
        for checked in ({}, {"checked": True}):
            library = smelt.load_metallib(package.metallib("macos14"), **checked)
            np.testing.assert_array_equal(self.shade(library), expected(self.which, self.x))


if __name__ == "__main__":
    unittest.main()
