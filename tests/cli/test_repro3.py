# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tests/data/repro3: small inputs that once went wrong. Each compiles, or is one error that names what is missing; those with
numbers print what they want."""

import os
import pathlib
import re
import subprocess
import unittest

from smelt_cli import SMELT, CliTest, smelt

# What Metal has and smelt has not, by the words of the one error.
MISSING = {
    "compute/vec1.metal": "float1",
    "compute/vec8.metal": "float8",
}
# Programs in Python, and what of their output is the right value.
PRINTS = {
    "compute/const_extra.py": r"^ok$",
    "compute/overload_space.py": r"^\[1 2 3 4 2 2\] want \[1 2 3 4 2 2\]\n\[ 0  3  4  9  8 15 12 21\]\n\[1 2 3 4 1 2 3 4\] want",
    "compute/tg_ptr_rt.py": r"^\[34\. 33\. 32\. 31\.",
    "torch/args32.py": r"<smelt\.Package of k>$",
    "torch/foreach32.py": r"<smelt\.Package of triton_for_fused_0>$",
}


class Repro3Test(CliTest):
    def setUp(self):
        super().setUp()
        self.inputs = self.shared("data/repro3")

    def test_sources(self):
        sources = sorted(self.inputs.glob("*/*.metal"))
        sources = [file for file in sources if file.parent.name != "torch"]
        self.assertGreater(len(sources), 40)
        out = self.folder / "k.metallib"
        for file in sources:
            name = f"{file.parent.name}/{file.name}"
            with self.subTest(name):
                out.unlink(missing_ok=True)
                done = smelt("compile", file, "--target", "macos15", "-o", out, "--no-store")
                said = done.stderr.decode()
                if name not in MISSING:
                    self.assertEqual(done.returncode, 0, said)
                    self.succeed("verify", out)
                    continue
                self.assertEqual(done.returncode, 1, said)
                self.assertFalse(out.exists())
                self.assertRegex(said, rf"^{re.escape(str(file))}:\d+:\d+: error: .*{re.escape(MISSING[name])}")
                self.assertNotIn("sizeof", said)

    def test_a_source_without_an_entry_point(self):
        source = self.inputs / "graphics" / "07-no-function.metal"
        done = smelt("compile", source, "-o", self.folder / "k.metallib", "--no-store")
        self.assertEqual((done.returncode, done.stderr.decode().count("warning: ")), (0, 1))
        self.assertTrue(done.stderr.decode().startswith(f"{source}: warning: "), done.stderr)

    def test_programs(self):
        build = pathlib.Path(SMELT).resolve().parents[1]
        found = re.search(r"^Python_EXECUTABLE:\w+=(.+)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
        package = build / "python"
        python = found[1] if found else ""  # that the modules are for
        if not (package / "smelt").is_dir() or subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode:
            self.skipTest("SKIPPED: no NumPy, or this build has no Python package")
        for name, right in PRINTS.items():
            with self.subTest(name):
                file = self.inputs / name
                environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", "SMELT_STORE": str(self.folder / "store")}
                done = subprocess.run([python, file.name], cwd=file.parent, env=environment, capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, re.compile(right, re.MULTILINE))

    def test_unrolled_products_cost_by_their_number(self):
        out = self.folder / "k.smelt"
        sizes = {}
        for count in (32, 48, 64):
            self.succeed("compile", self.inputs / "compute" / "mma_unroll.metal", "-D", f"N={count}", "--no-store", "-o", out)
            sizes[count] = out.stat().st_size
        self.assertLess(sizes[64], 4 * sizes[32])


if __name__ == "__main__":
    unittest.main()
