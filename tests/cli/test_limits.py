# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Limits of time and memory hold inside the Metal front end too: in the middle of a macro, where nothing looks at them."""

import subprocess
import sys
import unittest

from smelt_cli import SANITIZED, SMELT, CliTest

HEAD = "#define B0 1+\n" + "".join(f"#define B{n} B{n - 1} B{n - 1}\n" for n in range(1, 41))
KERNEL = "kernel void one(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }\n"
# 2^40 tokens: an expression that the preprocessor computes, and one that the parser keeps.
ENDLESS = HEAD + "#if B40 0\n#endif\n" + KERNEL
VAST = HEAD + "constant int vast = B40 0;\n" + KERNEL


@unittest.skipUnless(sys.platform == "linux", "SKIPPED: there are children on Linux alone")
class LimitsTest(CliTest):
    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_time_in_the_preprocessor(self):
        source = self.write("endless.metal", ENDLESS)
        for more in ([], ["--emit", "ll"]):
            out = self.folder / "out.smelt"
            said = self.fail_with(1, "compile", source, "--no-store", "-o", out, "--timeout", "1", *more)
            self.assertIn("limit of 1 s (cancelled)", said)
            self.assertFalse(out.exists())

    @unittest.skipIf(SANITIZED, "a sanitizer holds more memory than the program")
    def test_memory_in_the_parser(self):
        source = self.write("vast.metal", VAST)
        for more in ([], ["--emit", "ll"]):
            out = self.folder / "out.smelt"
            said = self.fail_with(1, "compile", source, "--no-store", "-o", out, "--max-memory", "400MiB", *more)
            self.assertIn("more memory than the limit of 400 MB (cancelled)", said)
            self.assertFalse(out.exists())

    def test_limits_change_nothing_else(self):
        """The same bytes, with folders that count from where the command runs, and the same errors."""
        (self.folder / "below").mkdir()
        self.write("below/half.h", "#define HALF 0.5f\n")
        source = self.write("good.metal", '#include "half.h"\nkernel void k(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= HALF * N; }\n')
        bad = self.write("bad.metal", "kernel void k(device float* x) {\n  x[0] = y;\n  x[1] = z;\n}\n")
        made, said = [], []
        for limits in ([], ["--timeout", "200", "--max-memory", "8GiB"]):
            command = [SMELT, "compile", source, "-I", "below", "-D", "N=3", "--no-store", "-o", "out.smelt", *limits]
            done = subprocess.run(command, cwd=self.folder, capture_output=True, timeout=300)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            made.append((self.folder / "out.smelt").read_bytes())
            said.append(self.fail_with(1, "compile", bad, "--no-store", "-o", self.folder / "bad.smelt", *limits))
        self.assertEqual(made[0], made[1])
        self.assertEqual(said[0], said[1])
        self.assertIn("undeclared identifier 'z'", said[0])

    def test_pragmas_that_break_clang_are_refused(self):
        for word in ("overflow_stack", "crash", "llvm_fatal_error", "dump"):
            source = self.write("debug.metal", f"#pragma clang __debug {word}\n" + KERNEL)
            said = self.fail_with(1, "compile", source, "--no-store", "-o", self.folder / "out.smelt")
            self.assertIn("'#pragma clang __debug' is for compiler developers", said)
            source = self.write("debug.metal", f'_Pragma("clang __debug {word}")\n' + KERNEL)
            said = self.fail_with(1, "compile", source, "--no-store", "-o", self.folder / "out.smelt")
            self.assertIn("'#pragma clang __debug' is for compiler developers", said)


if __name__ == "__main__":
    unittest.main()
