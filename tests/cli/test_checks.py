# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--checked=memory,races,init,sync from outside: a suite of kernels in pairs, what a report says, orders, suppressions."""

import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import check_suite
import npy
import race_programs
from smelt_cli import SANITIZED, SMELT, CliTest, smelt

LAUNCHES = pathlib.Path(__file__).with_name("concurrent_launches.py")
ALL = "--checked=memory,races,init,sync"
NUMBERS = {"float": "f32", "uint": "u32", "half": "f16"}


class CheckTest(CliTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "SMELT_STORE": str(self.folder / "store")}

    def package(self, text, *options, name="kernels"):
        source = self.folder / (name + ".metal")
        source.write_text(text)
        out = self.folder / (name + ".smelt")
        result = smelt("compile", source, "-o", out, "--target", "macos15", *(options or (ALL,)), environment=self.environment)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return out

    def findings(self, package, kernel, *arguments, checked=ALL, **environment):
        """All that one launch finds, as the report has it."""
        report = self.folder / (kernel + ".jsonl")
        with_report = {**self.environment, "SMELT_CHECK_REPORT": str(report), "SMELT_CHECK_CONTINUE": "1", **environment}
        result = smelt("run", checked, package, kernel, *arguments, environment=with_report)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []


class SuiteTest(CheckTest):
    maxDiff = None

    def test_every_fault_and_no_other(self):
        text, wanted = check_suite.suite()
        self.assertGreaterEqual(len(wanted), 200)
        package = self.package(text)

        def run(kernel):
            number = NUMBERS.get(kernel.rsplit("_", 1)[1], "u32")
            return self.findings(
                package, kernel, "--threads", 256, "--group", 64, f"{number}[1024]", f"{number}[1024]", "u32[64]"
            )

        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            found = list(threads.map(lambda one: run(one[0]), wanted))
        wrong = []
        for (kernel, kind), findings in zip(wanted, found):
            kinds = {one["kind"] for one in findings} - {"same-value"}
            if kinds != ({kind} if kind else set()):
                wrong.append(f"{kernel}: {kind or 'nothing'} is there, found {sorted(kinds) or 'nothing'}")
        self.assertEqual(wrong, [])


class RandomTest(CheckTest):
    """Races of random kernels, against a comparison of each access with each."""

    COUNT = 80

    def test_every_race_and_no_other(self):
        text, programs = race_programs.programs(self.COUNT, int(os.environ.get("SMELT_TEST_SEED", "1")))
        package = self.package(text, "--checked=races")
        order = ("forward", "reverse", "random:3")

        def run(program):
            found = self.findings(package, program.name, "--threads", 192, "--group", 64, "u32[256]", "u32[192]",
                                  checked="--checked=races", SMELT_ORDER=order[program.seed % 3])  # fmt: skip
            # 0: LLVM has merged two lines, and knows neither.
            places = [[one[side]["place"].split(":") for side in ("first", "second")] for one in found]
            return {tuple(sorted(int(place[-2]) if len(place) > 2 else 0 for place in pair)) for pair in places}

        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            found = list(threads.map(run, programs))
        clean, wrong = 0, []
        for program, pairs in zip(programs, found):
            races = program.races()
            clean += not races
            known = set().union(*races.values())
            known |= {(0, line) for pair in known for line in (0, *pair)}
            for pair in pairs - known:
                wrong.append(f"{program.name}: lines {pair} do not race")
            for place, any_of in races.items():
                if not (any_of | {(0, line) for pair in any_of for line in (0, *pair)}) & pairs:
                    wrong.append(f"{program.name}: nothing is told of {place}, where {sorted(any_of)} race")
        self.assertEqual(wrong[:20], [])
        self.assertGreater(clean, self.COUNT // 10)
        self.assertLess(clean, self.COUNT * 9 // 10)


class ReportTest(CheckTest):
    RACE = """#include <metal_stdlib>
using namespace metal;
kernel void update(device float* mean [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  float old = mean[2];
  mean[2] = old * 0.5f + float(i);
}
"""

    def test_both_places_and_the_element(self):
        package = self.package(self.RACE)
        found = self.findings(package, "update", "--threads", 64, "--group", 64, "f32[4]")
        self.assertEqual({one["kind"] for one in found}, {"race"})
        pairs = {frozenset((one["first"]["place"].rsplit("/", 1)[-1], one["second"]["place"].rsplit("/", 1)[-1])) for one in found}
        self.assertIn(frozenset({"kernels.metal:4:15", "kernels.metal:5:11"}), pairs)
        self.assertEqual({(one["memory"], one["element"]) for one in found}, {("buffer 0 'mean'", 2)})
        self.assertEqual(len(pairs), len(found), "one report for a pair of places")
        self.assertIn("barrier", found[0]["advice"])

    def test_what_a_launch_finds_is_its_error(self):
        result = smelt("run", ALL, self.package(self.RACE), "update", "--threads", 64, "f32[4]", environment=self.environment)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("race on buffer 0 'mean'[2]", result.stderr.decode())

    def test_suppressions(self):
        package = self.package(self.RACE)
        file = self.folder / "known"
        file.write_text("# known\nrace upd* *kernels.metal:5:11\n")
        found = self.findings(package, "update", "--threads", 64, "f32[4]", SMELT_CHECK_SUPPRESSIONS=str(file))
        self.assertEqual(found, [])

    def test_the_same_value_is_a_note(self):
        text = self.RACE.replace("old * 0.5f + float(i)", "3.0f").replace("float old = mean[2];", "float old = 0;")
        package = self.package(text)
        found = self.findings(package, "update", "--threads", 64, "f32[4]")
        self.assertEqual({one["kind"] for one in found}, {"same-value"})
        result = smelt("run", ALL, package, "update", "--threads", 64, "f32[4]", environment=self.environment)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertIn("note", result.stderr.decode())

    def test_without_lines_places_are_those_of_air(self):
        source = self.folder / "kernels.metal"
        source.write_text(self.RACE)
        library = self.folder / "kernels.metallib"
        self.assertEqual(smelt("compile", source, "-o", library, environment=self.environment).returncode, 0)
        found = self.findings(library, "update", "--threads", 64, "f32[4]")
        self.assertRegex(found[0]["first"]["place"], r"^AIR line \d+$")

    def test_words(self):
        result = smelt("run", "--checked=memory,luck", "x", "y", "--threads", 1, environment=self.environment)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("luck", (result.stdout + result.stderr).decode())
        result = smelt("run", "x", "y", "--threads", 1, environment={**self.environment, "SMELT_CHECK": "luck"})
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("SMELT_CHECK: checks 'luck'", (result.stdout + result.stderr).decode())

    def test_stores_of_matrices_that_change_what_another_wrote(self):
        """Values are compared when the store is done: what is the same is a note, and what is not is a race."""
        text = """#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
kernel void %s(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint s [[simdgroup_index_in_threadgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, in + s * %d, 8);
  simdgroup_store(m, out, 8);
}
"""
        for name, step, wanted in (("same", 0, "same-value"), ("other", 64, "race")):
            package = self.package(text % (name, step), "--checked=memory,races,sync", name=name)
            numbers = self.folder / "in.npy"
            npy.write(numbers, [float(i) for i in range(128)])
            found = self.findings(package, name, "--threads", 64, "--group", 64, "f32[64]", numbers,
                                  checked="--checked=memory,races,sync")  # fmt: skip
            self.assertEqual([one["kind"] for one in found], [wanted])

    def test_code_of_other_checks_is_another_slice(self):
        package = self.package(self.RACE, "--checked=races")
        self.assertIn(b"checked-memory-races", smelt("inspect", package, environment=self.environment).stdout)
        result = smelt("run", "--checked=memory", package, "update", "--threads", 4, "f32[4]", environment=self.environment)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("checks other things", result.stderr.decode())


class BoundsTest(CheckTest):
    """An access outside of memory is a finding as others are."""

    OUTSIDE = """#include <metal_stdlib>
using namespace metal;
kernel void copy(device const float* in [[buffer(0)]], device float* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  float x = in[i];
  out[i] = x;
}
kernel void shared_sum(device float* out [[buffer(0)]], uint t [[thread_position_in_threadgroup]]) {
  threadgroup float sums[32];
  sums[t] = 1;
  if (t == 0) out[9] = sums[1];
}
"""
    MEMORY = "--checked=memory"

    def test_the_report_has_its_line(self):
        package = self.package(self.OUTSIDE, self.MEMORY)
        launch = ("--threads", 40, "--group", 32, "f32[36]", "f32[64]")
        found = self.findings(package, "copy", *launch, checked=self.MEMORY)
        self.assertEqual([(one["kind"], one["memory"], one["element"]) for one in found], [("bounds", "buffer 0 'in'", 36)])
        first = found[0]["first"]
        self.assertTrue(first["place"].endswith("kernels.metal:4:13"), first["place"])
        self.assertEqual((first["thread"], first["group"]), ([36, 0, 0], [1, 0, 0]))
        self.assertIn("reads 4 bytes at offset 144 (index 36)", first["does"])
        result = smelt("run", self.MEMORY, package, "copy", *launch, environment=self.environment)
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(
            result.stderr.decode(),
            r"kernel 'copy': thread \(36, 0, 0\) reads 4 bytes .* which has 144 bytes, at .*kernels.metal:4:13",
        )

    def test_with_what_else_is_found(self):
        package = self.package(self.OUTSIDE)
        launch = ("--threads", 32, "--group", 32, "f32[4]")
        found = self.findings(package, "shared_sum", *launch)
        self.assertEqual([one["kind"] for one in found], ["bounds", "race"])
        result = smelt("run", ALL, package, "shared_sum", *launch, environment=self.environment)
        self.assertRegex(result.stderr.decode(), r"2 findings\n  thread \(0, 0, 0\) writes 4 bytes .*\n  race on")

    def test_suppressed(self):
        package = self.package(self.OUTSIDE, self.MEMORY)
        known = self.folder / "known"
        known.write_text("bounds copy *kernels.metal:4:*\n")
        result = smelt("run", self.MEMORY, package, "copy", "--threads", 40, "f32[36]", "f32[64]",
                       environment={**self.environment, "SMELT_CHECK_SUPPRESSIONS": str(known)})  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr.decode())

    def test_without_lines(self):
        source = self.folder / "kernels.metal"
        source.write_text(self.OUTSIDE)
        library = self.folder / "kernels.metallib"
        self.assertEqual(smelt("compile", source, "-o", library, environment=self.environment).returncode, 0)
        found = self.findings(library, "copy", "--threads", 40, "f32[36]", "f32[64]", checked=self.MEMORY)
        self.assertRegex(found[0]["first"]["place"], r"^AIR line \d+$")

    def test_what_runs_on_after_a_wrong_read_ends_at_the_limit(self):
        """The loop's count comes out of no buffer, so it is none that its author meant."""
        package = self.package("""#include <metal_stdlib>
using namespace metal;
kernel void fill(device uint* out [[buffer(0)]], constant ulong* count [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  for (ulong k = 1; k != count[i + 1]; ++k) out[(k * k) & 63] += uint(k);
}
""", self.MEMORY)  # fmt: skip
        for go_on in ("0", "1"):
            result = smelt("run", self.MEMORY, package, "fill", "--threads", 1, "u32[64]", "u64[1]",
                           environment={**self.environment, "SMELT_LAUNCH_LIMIT": "0.5", "SMELT_CHECK_CONTINUE": go_on})  # fmt: skip
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("limit of 0.5 s", result.stderr.decode())
            if go_on == "0":
                self.assertIn("reads 8 bytes at offset 8", result.stderr.decode())


class SeveralVariablesTest(CheckTest):
    """All threadgroup memory is watched, wherever a variable lies, and told of by its name."""

    MEAN = """kernel void mean_%s(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                 threadgroup float* more [[threadgroup(0)]], uint t [[thread_position_in_threadgroup]]) {
  %s
  float s = simd_sum(in[t]);
  if (t %% 32 == 0) part[t / 32] = s;
  more[t] = s;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) { float m = more[9]; for (int i = 0; i < 8; ++i) m += part[i]; mean = m / 256; }
  out[t] = in[t] - mean;
}
"""
    LAST = """kernel void last(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                 uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint other[8];
  threadgroup uint last;
  if (t < 8) other[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 255) last = other[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) out[0] = last;
}
kernel void element(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint last[4];
  if (t == 0) last[0] = in[t];
  if (t == 31) out[0] = last[0];
}
kernel void outside(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                    uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint other[8]; threadgroup uint last[4];
  if (t < 9) other[in[0] + t] = t;
  if (t < 4) last[t] = in[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) out[0] = last[0] + other[1];
}
kernel void either(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                   uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint one[3]; threadgroup uint two[5];
  threadgroup uint* p = in[0] == 0 ? two : one;
  p[t % 3] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  one[0] = 1;
  if (t == 0) out[0] = p[5 + in[0]] + one[t];
}
"""
    HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"

    def test_variables_of_every_size_and_order(self):
        variables = ["threadgroup float part[%d];", "threadgroup float mean;", "threadgroup half odd[3]; odd[t % 3] = t;",
                     "threadgroup char3 three; three = char3(t);"]  # fmt: skip
        text, names = self.HEAD, []
        for number, (size, order) in enumerate(itertools.product((8, 16, 9), itertools.permutations(variables))):
            text += self.MEAN % (number, " ".join(order).replace("%d", str(size)))
            names.append(f"mean_{number}")
        package = self.package(text, "--checked=memory,races")
        for name in names[::9]:
            found = self.findings(package, name, "--threads", 256, "--group", 256, "--threadgroup-memory", "0=1024",
                                  "f32[256]", "f32[256]", checked="--checked=memory,races")  # fmt: skip
            races = {one["memory"] for one in found if one["kind"] == "race"}
            self.assertIn("threadgroup variable 'mean'", races, name)
            self.assertLessEqual(races, {f"threadgroup variable '{one}'" for one in ("mean", "odd", "three")}, name)

    def test_unwritten_behind_another_variable(self):
        package = self.package(self.HEAD + self.LAST)
        found = self.findings(package, "last", "--threads", 32, "--group", 32, "u32[32]", "u32[1]")
        self.assertEqual([one["kind"] for one in found], ["unwritten"])

    def test_names(self):
        package = self.package(self.HEAD + self.LAST)
        launch = ("--threads", 32, "--group", 32, "u32[32]", "u32[1]")
        found = self.findings(package, "element", *launch)
        self.assertEqual([(one["kind"], one["memory"]) for one in found], [("race", "threadgroup variable 'last'")])
        found = self.findings(package, "outside", *launch)
        self.assertEqual(found[0]["memory"], "threadgroup variable 'other'")
        self.assertIn("writes 4 bytes at offset 32 of threadgroup variable 'other', which has 32 bytes", found[0]["first"]["does"])
        # Which variable a pointer leads to is known when it runs.
        found = self.findings(package, "either", *launch)
        self.assertEqual(found[0]["kind"], "bounds")
        self.assertIn("reads 4 bytes at offset 20 of threadgroup variable 'two', which has 20 bytes", found[0]["first"]["does"])
        self.assertIn("threadgroup variable 'two'", {one["memory"] for one in found if one["kind"] == "race"})


class OtherLanesTest(CheckTest):
    """What nobody has written stays so on its way through other lanes, whatever its type."""

    TEXT = """#include <metal_stdlib>
using namespace metal;
kernel void sum_T(device const T* in [[buffer(0)]], device T* out [[buffer(1)]], uint t [[thread_position_in_threadgroup]]) {
  threadgroup T part[8];
  if (t < 2) part[t] = in[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  T x = t < 8 ? part[t] : T(0);
  x = simd_sum(x);
  if (t == 0) out[0] = x;
}
kernel void move_T(device const T* in [[buffer(0)]], device T* out [[buffer(1)]], uint t [[thread_position_in_threadgroup]]) {
  threadgroup T part[32];
  if (t < 16) part[t] = in[t];
  T x = simd_shuffle_xor(part[t], ushort(16));
  T y = simd_prefix_inclusive_sum(part[t]);
  if (t >= 16) out[0] = x; else out[1] = y;
}
kernel void moved_T(device const T* in [[buffer(0)]], device T* out [[buffer(1)]], uint t [[thread_position_in_threadgroup]]) {
  threadgroup T part[32];
  if (t < 16) part[t] = in[t];
  T x = simd_shuffle_xor(part[t], ushort(16));
  if (t < 16) out[0] = x;
}
kernel void counted_T(device const T* in [[buffer(0)]], device T* out [[buffer(1)]], uint t [[thread_position_in_threadgroup]]) {
  threadgroup T part[32];
  if (t < 16) part[t] = in[t];
  T x = simd_prefix_inclusive_sum(part[t]);
  if (t < 17) out[0] = x;
}
"""

    def test_every_type(self):
        types = ("float", "half", "uint", "short", "char")
        package = self.package("".join(re.sub(r"\bT\b|(?<=_)T\b", kind, self.TEXT) for kind in types), "--checked=init")
        for kind in types:
            number = {"float": "f32", "half": "f16", "uint": "u32", "short": "i16", "char": "i8"}[kind]
            for name, wanted in (("sum", ["unwritten"]), ("move", []), ("moved", ["unwritten"]), ("counted", ["unwritten"])):
                found = self.findings(package, f"{name}_{kind}", "--threads", 32, "--group", 32, f"{number}[32]",
                                      f"{number}[2]", checked="--checked=init")  # fmt: skip
                self.assertEqual([one["kind"] for one in found], wanted, f"{name}_{kind}")

    def test_the_fourth_place_of_three(self):
        package = self.package("""#include <metal_stdlib>
using namespace metal;
kernel void k(device const packed_uchar3* a, device char3* o, uint i [[thread_position_in_grid]]) { o[i] = char3(uchar3(a[i])); }
""", "--checked=init")  # fmt: skip
        self.assertEqual(self.findings(package, "k", "--threads", 4, "u8[12]", "i8[16]", checked="--checked=init"), [])


class OrderTest(CheckTest):
    LUCK = """#include <metal_stdlib>
using namespace metal;
kernel void last(device uint* out [[buffer(0)]], uint g [[threadgroup_position_in_grid]]) { out[0] = g; }
kernel void own(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = i; }
"""

    def test_orders(self):
        package = self.package(self.LUCK, "-g")
        launch = ("--threads", 256, "--group", 32, "--orders", 8, "u32[256]")
        result = smelt("run", package, "last", *launch, environment=self.environment)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("depends on the order", result.stderr.decode())
        result = smelt("run", package, "own", *launch, environment=self.environment)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertIn("8 orders gave the same result", result.stderr.decode())

    def test_a_word_that_is_none(self):
        result = smelt(
            "run", self.package(self.LUCK, "-g"), "own", "--threads", 4, "u32[4]",
            environment={**self.environment, "SMELT_ORDER": "sideways"},
        )  # fmt: skip
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("SMELT_ORDER", result.stderr.decode())


class ConcurrentTest(CheckTest):
    SOURCE = """#include <metal_stdlib>
kernel void fill(device uint* to [[buffer(0)]], uint i [[thread_position_in_grid]]) { to[i] = i; }
kernel void move(device const uint* from [[buffer(0)]], device uint* to [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) { to[i] = from[i]; }
"""
    RACE = "an earlier dispatch of kernel 'fill' writes at {0}:2:93, thread (0, 0, 0) of group (0, 0, 0) reads at {0}:4:64;"

    def test_dispatches_of_one_encoder(self):
        package = self.package(self.SOURCE, "--checked=races")
        build = pathlib.Path(SMELT).resolve().parents[1]
        native = build / "lib/libsmelt.so"
        if SANITIZED or not native.exists():
            self.skipTest("no libsmelt.so that Python can open")
        environment = {**self.environment, "PYTHONPATH": str(build / "python")}
        for words, has_race in [
            ("fill move", False),
            ("begin_concurrent fill move end_concurrent", True),
            ("begin_concurrent fill barrier move end_concurrent", False),
            ("begin_concurrent fill wait move end_concurrent", False),
            ("begin_concurrent fill end_concurrent move", False),
            ("begin_concurrent fill end_concurrent begin_concurrent move end_concurrent", False),
            ("begin_concurrent fill reset begin_concurrent move end_concurrent", False),
            ("begin_concurrent fill barrier fill move end_concurrent", True),
        ]:
            with self.subTest(words):
                told = subprocess.run([sys.executable, "-B", LAUNCHES, native, package, *words.split()], env=environment, capture_output=True, text=True)
                self.assertEqual(told.returncode, 0, told.stderr)
                lines = told.stdout.splitlines()
                self.assertEqual(len(lines), words.count("fill") + words.count("move"))
                for line in lines:
                    race = self.RACE.format(self.folder / "kernels.metal")
                    self.assertEqual(race in line, has_race and line.startswith("move"), line)


if __name__ == "__main__":
    unittest.main()
