# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""../shared/data/repro4: small inputs that once went wrong. The numbers are what Metal says; checks find what is put there."""

import os
import pathlib
import re
import subprocess
import unittest

from smelt_cli import SMELT, CliTest, smelt

# What each kernel of "numbers" writes: the arguments by position, `out` an array of so many words.
NUMBERS = """
import pathlib, sys
import numpy as np, smelt
folder = pathlib.Path(sys.argv[1], "numbers")
def load(name, **how):
    return smelt.compile_shader((folder / name).read_text(), store=False, **how)
def check(name, want, **how):
    out = np.full(len(want), 77, np.int32)
    load(name, **how).k(out, threads=1)
    assert out.tolist() == want, (name, out.tolist(), want)
for how in ({}, {"cpu_effort": "fast"}, {"checked": True}):
    check("const_float_to_uint.metal", [0, 0, 255, 127], **how)
    check("const_shift.metal", [8, 768, 2], **how)
    check("const_shift_global.metal", [8, -4, 4, 1], **how)
    check("derived_layout.metal", [48, 20, 24, 12], **how)
    packed, out = np.zeros(20, np.uint8), np.zeros(4, np.uint32)
    packed[16:20] = np.array([2.5], np.float32).view(np.uint8)
    load("packed_attribute.metal", **how).k(out, packed, threads=1)
    assert out.tolist() == [9, 10, 49, np.array([2.5], np.float32).view(np.uint32)[0]], out
    out = np.zeros(64, np.uint32)
    load("nested_choice.metal", **how).k(out, np.arange(64, dtype=np.uint32), threads=64, group_size=64)
    assert out.tolist() == [1] * 4 + [29] * 60, out
    given, out = np.arange(12, dtype=np.uint8), np.zeros(16, np.int8)
    load("init_char3.metal", **how).k(given, out, threads=4)
    assert out.reshape(4, 4)[:, :3].reshape(-1).tolist() == list(range(12)), out
print("ok")
"""
# Where the processor has no such level, a program ends there.
NO_LEVEL = r"(Traceback (.|\n)*x86-64-v4 was asked for.*\n)?$"
# Programs, and what of their output is right; those that end with an error say it there.
PROGRAMS = {
    "numbers/or_disjoint_natural.py": r"^(x86-64-v\d \w+ \{'lane1': 0, 'rev': 0, 'odd_width': 0, 'shared': 0, 'four': 0\}\n){2,4}" + NO_LEVEL,
    "numbers/or_disjoint_run.py": r"^((x86-64-v\d \w+|checked|defaults|fast math) loads wrong 0 stores wrong 0 pairs wrong 0\n){3,9}" + NO_LEVEL,
    "numbers/simd_sum_minus_zero.py": r"^(.* simd_sum 0x80000000 quad_sum 0x80000000 prefix_inclusive 0x80000000 float2 0x80000000 lane0 prefix 0x80000000\n)+" + NO_LEVEL,
    "compute/02_missed_race.py": r"^8 .*\n  race on threadgroup variable 'mean'(.|\n)*\n16 .*\n  race on threadgroup variable 'mean'",
    "compute/03_missed_unwritten.py": r"UnwrittenError: (.|\n)*was never written",
    "compute/04_race_name.py": r"race on threadgroup variable 'last'",
    "compute/13_bounds_text.py": r"offset 32 of threadgroup variable 'other', which has 32 bytes",
    "compute/14_unwritten_through_simd_sum.py": r"^uint found\nfloat found\n$",
    "graphics/02_write_saturates.py": r"^rgba8uint  \[255 255 255   5\].*\nrgba16uint \[  300   256 65535     5\].*\nrgba8sint  \[ 127 -128  127 -128\]",
}


class Repro4Test(CliTest):
    def setUp(self):
        super().setUp()
        self.inputs = self.shared("data/repro4").resolve()
        build = pathlib.Path(SMELT).resolve().parents[1]
        found = re.search(r"^Python_EXECUTABLE:\w+=(.+)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
        self.python = found[1] if found else ""  # that the modules are for
        if not (build / "python/smelt").is_dir() or subprocess.run([self.python, "-c", "import numpy"], capture_output=True).returncode:
            self.skipTest("SKIPPED: no NumPy, or this build has no Python package")
        self.environment = {**os.environ, "PYTHONPATH": str(build / "python"), "SMELT_STORE": str(self.folder / "store")}

    def run_python(self, *words, cwd=None):
        done = subprocess.run([self.python, "-B", "-W", "ignore", *map(str, words)], env=self.environment, cwd=cwd or self.folder, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout + done.stderr

    def test_numbers(self):
        script = self.folder / "what_they_write.py"
        script.write_text(NUMBERS)
        code, said = self.run_python(script, self.inputs)
        self.assertEqual((code, said), (0, "ok\n"), said)

    def test_programs(self):
        (self.folder / "repro").symlink_to(self.inputs / "numbers")  # as one of them looks for its source
        for name, wanted in PROGRAMS.items():
            with self.subTest(name):
                folder = self.folder if name.startswith("numbers") else (self.inputs / name).parent
                self.assertRegex(self.run_python(self.inputs / name, cwd=folder)[1], wanted)

    def test_libraries_verify(self):
        """What is right in numbers is right in the library too."""
        out = self.folder / "k.metallib"
        for file in sorted((self.inputs / "numbers").glob("*.metal")):
            with self.subTest(file.name):
                done = smelt("compile", file, "--no-cpu", "--no-store", "-o", out)  # with warnings
                self.assertEqual(done.returncode, 0, done.stderr)
                self.succeed("verify", out)


if __name__ == "__main__":
    unittest.main()
